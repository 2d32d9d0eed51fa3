// The directory of an instance, drawn once, beside the functions that build its paths.
//
//   <instance>/
//     spec.json orders.json report.json lock     model/instance.h
//     report.next                where the directory serves again: takes the second report
//     <listing files>            of channels, named by the spec
//     metrics.log                JSON lines {"name","value","time"}; the daemon reads it by offset
//     agent.poke                 FIFO: the daemon pokes the agent, or calls one that waits to the
//                                directory that it names
//     agent.err                  standard error of the agent
//     cache/ pip/                /opt/ml/sagemaker/warmpoolcache, /root/.cache/pip; go with the
//                                agent
//     root/                      what the program sees as /opt/ml
//       input/config/ input/data/<channel> model/ output/{data,metrics/sagemaker} checkpoints/
//       code/
//     scratch/                   removed at the end
//       channels/<i>/{lower,upper,work}      layers of the i-th channel's overlay
//       channels/fast/<channel>  FastFile channels from outside: a mount of the agent's own
//       pins/                    links to the objects of the cache that this instance uses
//       tmp/                     /tmp
//       home/                    /root
//       hosts                    /etc/hosts
//       system/                  unless it is shared (system_files.h); in memory where mounts are
//                                possible
//         bin/                   /opt/sabia/bin: python, pip
//         etc/                   small files of /etc
//       checkpoints/             a CheckpointConfig.LocalPath outside /opt/ml
//       sourcedir                the downloaded archive of script mode
//       model.tar.gz output.tar.gz
//
// The format is documented in docs/formats/instance-directory.md.
#pragma once

#include <string>

#include "env/files.h"

namespace sabia::agent {

using env::Path;

// A value; builds paths only.
class Layout {
 public:
  explicit Layout(Path directory) : directory_(std::move(directory)) {}

  const Path& directory() const { return directory_; }
  Path spec() const { return directory_ / "spec.json"; }
  Path orders() const { return directory_ / "orders.json"; }
  Path report() const { return directory_ / "report.json"; }
  Path next_report() const { return directory_ / "report.next"; }
  Path lock() const { return directory_ / "lock"; }
  Path poke() const { return directory_ / "agent.poke"; }
  Path errors() const { return directory_ / "agent.err"; }
  Path cache() const { return directory_ / "cache"; }
  Path packages() const { return directory_ / "pip"; }
  Path metrics_log() const { return directory_ / "metrics.log"; }
  Path root() const { return directory_ / "root"; }
  Path scratch() const { return directory_ / "scratch"; }

  Path input() const { return root() / "input"; }
  Path config() const { return input() / "config"; }
  Path data() const { return input() / "data"; }
  Path model() const { return root() / "model"; }
  Path output() const { return root() / "output"; }
  Path output_data() const { return output() / "data"; }
  Path failure() const { return output() / "failure"; }
  Path code() const { return root() / "code"; }

  Path channel_scratch(std::size_t index) const {
    return scratch() / "channels" / std::to_string(index);
  }
  Path fast() const { return scratch() / "channels" / "fast"; }
  Path pins() const { return scratch() / "pins"; }
  Path tmp() const { return scratch() / "tmp"; }
  Path home() const { return scratch() / "home"; }
  Path hosts() const { return scratch() / "hosts"; }
  Path system() const { return scratch() / "system"; }
  Path bin() const { return system() / "bin"; }
  Path etc() const { return system() / "etc"; }
  Path source_archive() const { return scratch() / "sourcedir"; }

  // Where a path of the sandbox lies outside: /opt/ml/x is root/x, anything else is
  // scratch/checkpoints. REQUIRES: an absolute, normalised path.
  Path Checkpoints(const std::string& sandbox_path) const;

 private:
  Path directory_;
};

// How the program sees the same places.
inline constexpr char kOptMl[] = "/opt/ml";
// For AWS clients in the sandbox: AWS_DATA_PATH and AWS_CA_BUNDLE.
inline constexpr char kClientData[] = "/opt/sabia/aws-models";
inline constexpr char kCaBundle[] = "/opt/sabia/ca-bundle.pem";
// What jobs of a warm pool hand on to each other.
inline constexpr char kWarmPoolCache[] = "/opt/ml/sagemaker/warmpoolcache";
inline constexpr char kPipCache[] = "/root/.cache/pip";
inline constexpr char kSandboxBin[] = "/opt/sabia/bin";

}  // namespace sabia::agent
