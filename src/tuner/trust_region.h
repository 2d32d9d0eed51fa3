// A box around the best trial that grows with success and shrinks with failure, for spaces of many
// parameters, where a search of the whole cube finds only its corners (TuRBO, Eriksson et al.
// 2019).
#pragma once

#include <Eigen/Dense>

#include "tuner/acquisition.h"

namespace sabia::tuner {

// Spaces with more varied parameters than this are searched in a trust region.
inline constexpr std::size_t kTrustRegionAbove = 15;

// The side of the region after trials with these losses, replayed from the first. Pure.
double TrustRegionSide(const Eigen::VectorXd& losses, std::size_t parameters);

// The box of that side around a centre, longer where the process is smoother. Within the unit cube.
Box TrustRegionBox(const GaussianProcess& process, const Eigen::VectorXd& centre, double side);

}  // namespace sabia::tuner
