"""SPDX documents: what is inside the portable binary and what the Debian package links to."""
import hashlib
import json
import os
import time

from common import ROOT, VERSION, run, write

GLIBC_FLOOR = "2.34"  # tests/package/check.py holds the binary to it

# Debian's development package, the SPDX license, and whether its code is in the binary by way of headers or sources.
LIBRARIES = [
    ("node-llhttp", "llhttp", "MIT", "source"),
    ("libtomlplusplus-dev", "toml++", "MIT", "source"),
    ("libcli11-dev", "CLI11", "BSD-3-Clause", "source"),
    ("libexpected-dev", "tl-expected", "CC0-1.0", "source"),
    ("libvalijson-dev", "valijson", "BSD-2-Clause", "source"),
    ("libssl-dev", "openssl", "Apache-2.0", "linked"),
    ("zlib1g-dev", "zlib", "Zlib", "linked"),
    ("libzstd-dev", "zstd", "BSD-3-Clause", "linked"),
    ("libbrotli-dev", "brotli", "MIT", "linked"),
    ("libsqlite3-dev", "sqlite", "blessing", "linked"),
    ("libpq-dev", "libpq", "PostgreSQL", "linked"),
    ("libicu-dev", "icu", "Unicode-DFS-2016", "linked"),
    ("libstdc++-12-dev", "libstdc++", "GPL-3.0-or-later WITH GCC-exception-3.1", "linked"),
]


def library_entry(package, name, license_id):
    version = run("dpkg-query", "-W", "-f", "${Version}", package)
    return {"SPDXID": f"SPDXRef-{name.replace('+', 'x')}", "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": license_id, "copyrightText": "NOASSERTION",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/debian/{package}@{version.replace(':', '%3A')}"}]}


def document(name, artifact, how):
    digest = hashlib.sha256(artifact.read_bytes()).hexdigest()
    root = {"SPDXID": "SPDXRef-callgate", "name": "callgate", "versionInfo": VERSION, "packageFileName": artifact.name,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "Apache-2.0",
            "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION",
            "checksums": [{"algorithm": "SHA256", "checksumValue": digest}]}
    libraries = [library_entry(*row[:3]) for row in LIBRARIES]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-callgate")]
    for (_, _, _, kind), entry in zip(LIBRARIES, libraries):
        relations.append(("SPDXRef-callgate", "STATIC_LINK" if kind == "source" else how, entry["SPDXID"]))
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"])))
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
            "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{digest[:16]}",
            "creationInfo": {"created": created, "creators": ["Tool: callgate-package"]},
            "packages": [root, *libraries],
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations]}


def write_documents(build, out):
    for artifact, name, how in ((out / f"callgate-{VERSION}-linux-x64.tar.gz", f"callgate-{VERSION}-linux-x64", "STATIC_LINK"),
                                (out / f"callgate_{VERSION}_amd64.deb", f"callgate_{VERSION}_amd64", "DYNAMIC_LINK")):
        write(out / f"{name}.spdx.json", json.dumps(document(name, artifact, how), indent=1) + "\n")
