"""What is inside a packaged program: an SPDX document and the licences' texts, from the archives
that the linker took something of."""

import hashlib
import json
import pathlib
import time

from link import run

# SPDX's names, by Debian's source package. A library that is not here stops the packaging.
LICENCES = {
    "brotli": "MIT", "fmtlib": "MIT", "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later", "tl-expected": "CC0-1.0", "libzstd": "BSD-3-Clause",
    "lz4": "BSD-2-Clause", "nghttp2": "MIT", "openssl": "Apache-2.0", "simdjson": "Apache-2.0",
    "snappy": "BSD-3-Clause", "sqlite3": "blessing", "utf8proc": "MIT AND Unicode-DFS-2015",
    "xxhash": "BSD-2-Clause", "yaml-cpp": "MIT", "zlib": "Zlib",
}
# Compiled in from headers, or from source: no archive names them.
ALWAYS = ("libfmt-dev", "libsimdjson-dev", "libexpected-dev")


def package_of(archive):
    """The Debian package of an archive. Debian's lists name some by /lib, others by /usr/lib."""
    names = [str(archive), str(archive).removeprefix("/usr")]
    for name in names:
        try:
            return run("dpkg-query", "-S", name).split(":")[0]
        except Exception:  # pylint: disable=broad-exception-caught
            continue
    raise KeyError(f"{archive}: of no Debian package")


def components(archives):
    """[{name, version, package, licence, copyright}] of what is linked, by name."""
    packages = {package_of(archive) for archive in archives} | set(ALWAYS)
    out = {}
    for package in sorted(packages):
        source, version = run("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}",
                              package).split()
        if source not in LICENCES:
            raise KeyError(f"{package}: packaging/bom.py has no licence of {source}")
        text = pathlib.Path(f"/usr/share/doc/{package}/copyright").read_text(errors="replace")
        out[source] = {"name": source, "version": version, "package": package,
                       "licence": LICENCES[source], "copyright": text}
    return [out[name] for name in sorted(out)]


def spdx(version, revision, epoch, parts):
    """The SPDX 2.3 document, as bytes; the same for the same commit and libraries."""
    def entry(key, part, **more):
        return {"SPDXID": f"SPDXRef-{key}", "name": part["name"], "versionInfo": part["version"],
                "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
                "licenseConcluded": part["licence"], "licenseDeclared": part["licence"],
                "copyrightText": "NOASSERTION", **more}

    assay = {"name": "assay", "version": version, "licence": "Apache-2.0"}
    packages = [entry("assay", assay, sourceInfo=f"commit {revision}")]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": "SPDXRef-assay"}]
    for part in parts:
        reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                     "referenceLocator": f"pkg:deb/debian/{part['name']}@{part['version']}"
                                         "?arch=source"}
        packages.append(entry(part["name"], part, externalRefs=[reference]))
        relations.append({"spdxElementId": "SPDXRef-assay", "relationshipType": "STATIC_LINK",
                          "relatedSpdxElement": f"SPDXRef-{part['name']}"})
    content = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"assay-{version}", "documentNamespace": f"urn:assay:spdx:{content}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
                         "creators": [f"Tool: assay-packaging-{version}"]},
        "packages": packages, "relationships": relations}
    return (json.dumps(document, indent=1) + "\n").encode()


def notices(licence, parts):
    """Assay's licence and the full copyright files of what is linked, as bytes."""
    out = ["Assay\n=====\n\n", licence]
    for part in parts:
        title = f"{part['name']} {part['version']}"
        out.append(f"\n\n{title}\n{'=' * len(title)}\n\n{part['copyright']}")
    return "".join(out).encode()
