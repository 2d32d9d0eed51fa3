#!/usr/bin/env python3
"""Distils botocore service models into schemas/<service>.json: facts only, no prose.

    tools/import_schemas.py            rewrites the files of every service below
    tools/import_schemas.py --check    exits 1 when a committed file differs from what it would write
    tools/import_schemas.py logs iam   only these

The output is deterministic: operations, shapes and paginators sorted by name, one per line; members in the order of
the model. docs/checklists/add-an-api-action.md says when to run it. A build needs neither Python nor botocore.
"""
import argparse
import json
import pathlib
import sys

import botocore
import botocore.loaders

SERVICES = ("sagemaker", "sagemaker-runtime", "sagemaker-metrics", "s3", "logs", "cloudwatch", "sts", "iam", "ce")
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "schemas"

SHAPE_FACTS = ("min", "max", "pattern", "enum", "union", "sensitive", "flattened", "streaming", "payload",
               "locationName", "timestampFormat", "eventstream", "event")
MEMBER_FACTS = ("location", "locationName", "flattened", "xmlAttribute", "streaming", "timestampFormat",
                "idempotencyToken", "jsonvalue")
# The names of the root elements of S3's answers, which botocore does not look at and other clients do. They are the
# ones of the S3 API reference; "unwrapped" answers are a root element with the text of their only member.
S3_ROOTS = {
    "CompleteMultipartUpload": "CompleteMultipartUploadResult", "CreateMultipartUpload": "InitiateMultipartUploadResult",
    "DeleteObjects": "DeleteResult", "GetBucketAccelerateConfiguration": "AccelerateConfiguration",
    "GetBucketAcl": "AccessControlPolicy", "GetBucketCors": "CORSConfiguration",
    "GetBucketLifecycleConfiguration": "LifecycleConfiguration", "GetBucketLocation": "LocationConstraint",
    "GetBucketLogging": "BucketLoggingStatus", "GetBucketNotificationConfiguration": "NotificationConfiguration",
    "GetBucketRequestPayment": "RequestPaymentConfiguration", "GetBucketTagging": "Tagging",
    "GetBucketVersioning": "VersioningConfiguration", "GetBucketWebsite": "WebsiteConfiguration",
    "GetObjectAcl": "AccessControlPolicy", "GetObjectAttributes": "GetObjectAttributesResponse",
    "GetObjectTagging": "Tagging", "ListBuckets": "ListAllMyBucketsResult",
    "ListDirectoryBuckets": "ListAllMyDirectoryBucketsResult", "ListMultipartUploads": "ListMultipartUploadsResult",
    "ListObjectVersions": "ListVersionsResult", "ListObjects": "ListBucketResult", "ListObjectsV2": "ListBucketResult",
    "ListParts": "ListPartsResult",
}
S3_UNWRAPPED = ("GetBucketLocation",)
PROTOCOLS = {"query": "query", "rest-json": "rest-json", "rest-xml": "rest-xml"}


def distil_metadata(model):
    metadata = model["metadata"]
    protocols = []
    for name in metadata.get("protocols", [metadata["protocol"]]):
        if name == "json":
            protocols.append("json-" + metadata["jsonVersion"])
        elif name in PROTOCOLS:
            protocols.append(PROTOCOLS[name])
    out = {"apiVersion": metadata["apiVersion"], "protocols": protocols,
           "endpointPrefix": metadata["endpointPrefix"],
           "signingName": metadata.get("signingName", metadata["endpointPrefix"])}
    if "targetPrefix" in metadata:
        out["targetPrefix"] = metadata["targetPrefix"]
    namespace = metadata.get("xmlNamespace") or body_namespace(model)
    if namespace:
        out["xmlNamespace"] = namespace
    if "awsQueryCompatible" in metadata:
        out["queryCompatible"] = True
    return out


def body_namespace(model):
    """REST-XML models state the namespace at each body member; answers carry the same one."""
    seen = {member["xmlNamespace"]["uri"] for shape in model["shapes"].values()
            for member in shape.get("members", {}).values() if "xmlNamespace" in member
            if "prefix" not in member["xmlNamespace"]}
    return seen.pop() if len(seen) == 1 else None


def distil_operation(service, name, operation):
    http = operation["http"]
    out = {"http": http["method"] + " " + http["requestUri"]}
    if http.get("responseCode", 200) != 200:
        out["status"] = http["responseCode"]
    for side in ("input", "output"):
        if side in operation:
            out[side] = operation[side]["shape"]
    if "resultWrapper" in operation.get("output", {}):
        out["resultWrapper"] = operation["output"]["resultWrapper"]
    if service == "s3" and name in S3_ROOTS:
        out["root"] = S3_ROOTS[name]
    if service == "s3" and name in S3_UNWRAPPED:
        out["unwrapped"] = True
    errors = [error["shape"] for error in operation.get("errors", [])]
    if errors:
        out["errors"] = errors
    return out


def distil_member(member):
    """A member without facts of its own is written as the bare name of its shape."""
    facts = {key: member[key] for key in MEMBER_FACTS if member.get(key)}
    if not facts:
        return member["shape"]
    return {"shape": member["shape"], **facts}


def distil_shape(name, shape):
    out = {"type": shape["type"]}
    for key in SHAPE_FACTS:
        if shape.get(key) is not None and shape[key] is not False:
            out[key] = shape[key]
    if "xmlNamespace" in shape:
        out["xmlNamespace"] = shape["xmlNamespace"]["uri"]
        if "prefix" in shape["xmlNamespace"]:
            out["xmlPrefix"] = shape["xmlNamespace"]["prefix"]
    if shape.get("exception"):
        out["exception"] = distil_exception(name, shape)
    if shape.get("required"):
        out["required"] = [member for member in shape["members"] if member in shape["required"]]
    if "members" in shape:
        out["members"] = {key: distil_member(member) for key, member in shape["members"].items()}
    for part in ("member", "key", "value"):
        if part in shape:
            out[part] = distil_member(shape[part])
    return out


def distil_exception(name, shape):
    error = shape.get("error", {})
    return {"code": error.get("code", name),
            "status": error.get("httpStatusCode", 500 if shape.get("fault") else 400)}


def distil_paginators(loader, service):
    try:
        pages = loader.load_service_model(service, "paginators-1")["pagination"]
    except botocore.exceptions.UnknownServiceError:
        return {}
    return {name: {key: page[key] for key in sorted(page)} for name, page in pages.items()}


def render(service, model, paginators):
    def line(value):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def block(title, entries):
        rows = ",\n".join(f"{line(name)}:{line(entries[name])}" for name in sorted(entries))
        return f"{line(title)}:{{\n{rows}\n}}" if rows else f"{line(title)}:{{}}"

    parts = [f'"service":{line(service)}', f'"metadata":{line(distil_metadata(model))}',
             block("operations", {n: distil_operation(service, n, o) for n, o in model["operations"].items()}),
             block("shapes", {n: distil_shape(n, s) for n, s in model["shapes"].items()}),
             block("paginators", paginators)]
    return "{" + ",\n".join(parts) + "}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("services", nargs="*", default=SERVICES)
    arguments = parser.parse_args()
    loader = botocore.loaders.Loader(include_default_extras=False)  # the extras serve botocore's own code
    stale = []
    for service in arguments.services:
        model = loader.load_service_model(service, "service-2")
        text = render(service, model, distil_paginators(loader, service))
        path = FOLDER / f"{service}.json"
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(path.name)
        if not arguments.check:
            path.write_text(text, encoding="utf-8")
    for name in stale:
        print(("differs from botocore " + botocore.__version__ + ": " if arguments.check else "wrote ") + name)
    return 1 if stale and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
