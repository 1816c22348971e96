"""The manifests that `assay launch --engine k8s` writes, against Kubernetes' own JSON schemas."""

import kubernetes_validate
import pytest
import yaml


def manifests(assay, *flags):
    told = assay("launch", "--engine", "k8s", "--ranks", "6", "--image", "registry/assay:1",
                 "--claim", "results", "--dry-run", "--json", *flags, "--", "--model",
                 'a: "b" #c', "--report-dir", "/results/big").json()
    return list(yaml.safe_load_all(told["files"][0]["text"]))


@pytest.mark.parametrize("version", ["1.27", "1.31", kubernetes_validate.latest_version()])
@pytest.mark.parametrize("flags", [[], ["--secret", "keys", "--name", "night-7"]])
def test_the_schemas_accept_them(assay, version, flags):
    documents = manifests(assay, *flags)
    assert [document["kind"] for document in documents] == ["Service", "Job"]
    for document in documents:
        kubernetes_validate.validate(document, version, strict=True)


def test_each_pod_finds_its_rank_and_rank_0(assay):
    service, job = manifests(assay, "--name", "night", "--secret", "keys")
    pod = job["spec"]["template"]["spec"]
    container = pod["containers"][0]
    env = {one["name"]: one["value"] for one in container["env"]}
    assert job["spec"]["completions"] == job["spec"]["parallelism"] == 6
    assert env == {"ASSAY_RANKS": "6", "ASSAY_RENDEZVOUS": "night-0.night:7077"}
    # A pod of an Indexed Job is reached by NAME-INDEX.SUBDOMAIN, if the Service has that name.
    assert pod["subdomain"] == service["metadata"]["name"] == job["metadata"]["name"] == "night"
    assert service["spec"]["selector"] == {"batch.kubernetes.io/job-name": "night"}
    assert container["args"] == ["run", "--model", 'a: "b" #c', "--report-dir", "/results/big"]
    assert container["volumeMounts"][0]["mountPath"] == "/results"
    assert container["envFrom"] == [{"secretRef": {"name": "keys"}}]
