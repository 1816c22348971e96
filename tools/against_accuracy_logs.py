#!/usr/bin/env python3
"""Accuracy logs of LoadGen judged twice: by the workloads' own programs and by Assay.

    tools/against_accuracy_logs.py --inference DIR [--rounds N] [--seed S] [WORKLOAD...]

DIR is a checkout of mlcommons/inference. Its programs are loaded from their files and called; they
need numpy, scikit-learn, pycocotools, pandas, shapely, pillow, requests and transformers 4. What
they only need for other work (torch, torchvision, TensorFlow, the tokenization of a submodule) is
stood in for below by a few lines that compute the same. Logs and truths are made up: logits, boxes
in space, clicks, volumes, detections, databases, questions with a judge. It prints each figure of
both; the exit code is 1 when two differ by more than 1e-4 of each other (PointPainting, in single
precision there and here), 1e-6 elsewhere.
"""

import argparse
import contextlib
import hashlib
import http.server
import importlib.util
import io
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import threading
import types

import numpy

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = ("The the a an A Paris paris Steve Smith's (1895-1943). U.S. caf\u00e9 na\u00efve "
         "\u00c5ngstr\u00f6m 1,000 red-blue the\u2013red \u4e2d\u6587 \u00bd don't \u0130stanbul "
         "x\u00a0y \u2018quoted\u2019 e\u0301t\u00e9 \u200bzero \u03a3\u03a3 AN an. the, "
         "state-of-the-art km\u00b2 #tag @me $5 5% \u00bfqu\u00e9? \ufb01sh \u1e9e").split(" ")


def load(path, name, **modules):
    """A program of theirs as a module, with stand-ins for what it imports."""
    before = {key: sys.modules.get(key) for key in modules}
    sys.modules.update(modules)
    sys.path.insert(0, str(path.parent))
    try:
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.pop(0)
        for key, value in before.items():
            if value is None:
                sys.modules.pop(key, None)
            else:
                sys.modules[key] = value


def module_of(name, **members):
    out = types.ModuleType(name)
    out.__dict__.update(members)
    return out


def log_of(entries):
    return "[\n" + ",\n".join(
        json.dumps({"seq_id": i, "qsl_idx": sample, "data": data.hex().upper()})
        for i, (sample, data) in enumerate(entries)) + "\n]\n"


def repeated(chance, entries):
    """Some samples twice, as a submission may have them, in any order."""
    out = entries + [(sample, bytes(len(data))) for sample, data in entries
                     if chance.random() < 0.05]
    return out


def said(call, *args):
    """What a program prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        call(*args)
    return out.getvalue()


# ---- BERT ---------------------------------------------------------------------------------------


def squad(chance, articles):
    number = 0
    data = []
    for _ in range(articles):
        words = [chance.choice(WORDS) if chance.random() < 0.4 else
                 "".join(chance.choices(LETTERS, k=chance.randint(1, 9)))
                 for _ in range(chance.choice([5, 60, 300, 700]))]
        passage = chance.choice([" ", " ", "  ", "\n", "\t"]).join(words)
        questions = []
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(words))
            answers = [" ".join(words[at:at + chance.randint(1, 4)])
                       for _ in range(chance.randint(1, 3))]
            questions.append({"id": f"q{number}", "answers": [
                {"text": text, "answer_start": 0} for text in answers],
                "question": " ".join(chance.choices(words, k=chance.choice([3, 12, 90])))})
            number += 1
        data.append({"title": "t", "paragraphs": [{"context": passage, "qas": questions}]})
    return {"version": "1.1", "data": data}


def vocabulary(chance):
    pieces = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces += [*LETTERS, *"0123456789.,()'-$%#@?!;:\u2013\u2018\u2019\u00bf"]
    pieces += ["##" + c for c in LETTERS + "0123456789"]
    pieces += ["the", "an", "##ed", "##ris", "pa", "smith", "steve", "state", "cafe", "\u4e2d"]
    pieces += ["".join(chance.choices(LETTERS, k=2)) for _ in range(200)]
    return list(dict.fromkeys(pieces))


def logits(chance, feature):
    """Peaks at a few tokens, of which some are ties, in the question, or beyond the end."""
    length = chance.choice([384, len(feature.tokens)])
    starts = [round(chance.gauss(-6, 2), 1) for _ in range(length)]
    ends = [round(chance.gauss(-6, 2), 1) for _ in range(length)]
    for _ in range(chance.randint(0, 4)):
        at = chance.randrange(length)
        starts[at] = round(chance.uniform(0, 6))
        end = min(length - 1, at + chance.choice([0, 1, 3, 29, 30, 35]))
        ends[end] = round(chance.uniform(0, 6))
    return struct.pack(f"<{2 * length}f", *(v for pair in zip(starts, ends) for v in pair))


def varied(chance, text):
    words = text.split()
    for _ in range(chance.choice([0, 0, 1, 2])):
        words.insert(chance.randint(0, len(words)), chance.choice(WORDS + ["the", "a", "an"]))
    return chance.choice([" ", "  ", "\u2009"]).join(words).swapcase()


def bert(folder, chance, inference, score):
    tokenization = importlib.import_module("transformers.models.bert.tokenization_bert")
    words = module_of("tokenization", BasicTokenizer=tokenization.BasicTokenizer,
                      printable_text=str, whitespace_tokenize=str.split)
    path = inference / "language/bert"
    features_of = load(path / "create_squad_data.py", "create_squad_data", tokenization=words)
    program = load(path / "accuracy-squad.py", "accuracy_squad", tokenization=words,
                   create_squad_data=features_of,
                   pkg_resources=module_of("pkg_resources", working_set=[]))
    judge = load(path / "evaluate_v1.1.py", "evaluate_squad")
    data = squad(chance, 25)
    (folder / "dev.json").write_text(json.dumps(data))
    (folder / "vocab.txt").write_text("\n".join(vocabulary(chance)) + "\n")
    examples = features_of.read_squad_examples(str(folder / "dev.json"), False)
    features = []
    features_of.convert_examples_to_features(
        examples, tokenization.BertTokenizer(str(folder / "vocab.txt")), 384, 128, 64, False,
        features.append)
    entries = [(i, logits(chance, feature)) for i, feature in enumerate(features)
               if chance.random() < 0.95]
    chance.shuffle(entries)
    (folder / "log.json").write_text(log_of(entries))
    results = program.load_loadgen_log(str(folder / "log.json"), features)
    said(program.write_predictions, examples, features, results, 20, 30, True,
         str(folder / "predictions.json"))
    answers = json.loads((folder / "predictions.json").read_text())
    for paragraph in (p for article in data["data"] for p in article["paragraphs"]):
        for question in paragraph["qas"]:  # half of the answers are near
            if chance.random() < 0.5:
                question["answers"].append({"text": varied(chance, answers[question["id"]])})
    (folder / "dev.json").write_text(json.dumps(data))
    theirs = judge.evaluate(data["data"], answers)
    ours = score("bert-99", "--dataset", folder / "dev.json", "--tokenizer",
                 folder / "vocab.txt", "--verdicts", folder / "verdicts.jsonl")
    lines = (folder / "verdicts.jsonl").read_text().splitlines()
    for (name, text), line in zip(answers.items(), lines, strict=True):
        if json.loads(line)["extracted"] != text.strip():
            print(f"  bert: {name}: theirs {text!r}, ours {json.loads(line)['extracted']!r}")
            theirs = {"exact_match": -1, "f1": -1}
    return theirs, ours["score"]


# ---- DLRM v2 ------------------------------------------------------------------------------------


def dlrm(folder, chance, inference, score):
    program = load(inference / "recommendation/dlrm_v2/pytorch/tools/accuracy-dlrm.py", "dlrm_v2")
    entries, labels = [], []
    for sample in range(60):
        mine = [int(chance.random() < 0.3) for _ in range(chance.randint(100, 300))]
        guesses = [chance.choice([0.5, round(chance.random(), 2), chance.random()]) for _ in mine]
        labels.append(mine)
        entries.append((sample, guesses))
    chance.shuffle(entries)
    pairs = [(s, struct.pack(f"<{2 * len(g)}f", *(v for p in zip(g, labels[s]) for v in p)))
             for s, g in entries]
    alone = [(s, struct.pack(f"<{len(g)}f", *g)) for s, g in entries]
    (folder / "day_23").write_text("".join(f"{y}\trest\n" for mine in labels for y in mine))
    (folder / "trace.txt").write_text("".join(f"0, 0, {len(mine)}\n" for mine in labels))
    (folder / "rows.jsonl").write_text("".join(json.dumps({"label": m}) + "\n" for m in labels))
    theirs, ours = {}, {}
    for name, log, flags, more in (
            ("pairs", repeated(chance, pairs), [], []),
            ("alone", alone, ["--day-23-file", str(folder / "day_23"), "--aggregation-trace-file",
                              str(folder / "trace.txt")], ["--dataset", folder / "rows.jsonl"])):
        (folder / "log.json").write_text(log_of(log))
        sys.argv = ["x", "--mlperf-accuracy-file", str(folder / "log.json"), *flags]
        found = {}
        real = program.sklearn.metrics.roc_auc_score

        def remember(*args, into=found, ask=real):
            into["auc"] = ask(*args)
            return into["auc"]
        program.sklearn.metrics.roc_auc_score = remember
        text = said(program.main)
        program.sklearn.metrics.roc_auc_score = real
        good, total = (int(text.split(f"{key}=")[1].split(",")[0]) for key in ("good", "total"))
        theirs[name] = {"auc_percent": 100 * found["auc"], "accuracy": 100 * good / total}
        ours[name] = score("dlrm-v2", *more)["score"]
    return flat(theirs), flat(ours)


def flat(figures):
    return {f"{a} {b}": v for a, inner in figures.items() for b, v in inner.items()}


# ---- PointPainting ------------------------------------------------------------------------------


class Tensor(numpy.ndarray):
    """As much of a tensor as their overlap of boxes asks for."""

    def to(self, *_, **__):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return numpy.asarray(self)


def as_tensor(array):
    return numpy.asarray(array).view(Tensor)


def torch_module():
    return module_of(
        "torch", Tensor=Tensor, float=numpy.float32, from_numpy=as_tensor,
        empty=lambda size: as_tensor(numpy.empty(size, numpy.float32)),
        zeros=lambda size: as_tensor(numpy.zeros(size, numpy.float32)),
        maximum=lambda a, b: as_tensor(numpy.maximum(a, b)),
        minimum=lambda a, b: as_tensor(numpy.minimum(a, b)),
        clamp=lambda a, min: as_tensor(numpy.maximum(a, numpy.float32(min))),
        cat=lambda parts, dim: as_tensor(numpy.concatenate(parts, axis=dim)),
        cuda=module_of("cuda", is_available=lambda: False))


def frames(chance, count):
    infos, entries = [], []
    names = ["Pedestrian", "Cyclist", "Car", "Car", "Van", "Person_sitting", "DontCare", "Sign"]
    sizes = {"Pedestrian": (0.9, 1.7, 0.9), "Cyclist": (1.8, 1.7, 0.8)}
    for sample in range(count):
        truths = [chance.choice(names) for _ in range(chance.randint(0, 9))]
        boxes = []
        for name in truths:
            size = [v * chance.uniform(0.8, 1.2) for v in sizes.get(name, (4.5, 1.7, 1.9))]
            boxes.append((size, [chance.uniform(-70, 70), chance.uniform(0, 2),
                                 chance.uniform(-70, 70)], chance.uniform(-3.2, 3.2)))
        annos = {"name": numpy.array(truths),
                 "dimensions": numpy.array([b[0] for b in boxes]).reshape(-1, 3),
                 "location": numpy.array([b[1] for b in boxes]).reshape(-1, 3),
                 "rotation_y": numpy.array([b[2] for b in boxes]),
                 "bbox": numpy.zeros((len(boxes), 4)),
                 "difficulty": numpy.array([chance.choice([0, 0, 0, 1, -1]) for _ in boxes], int)}
        infos.append({"image": {"image_idx": 1000 + sample}, "annos": annos})
        rows = []
        for size, location, turn in boxes + boxes[:2]:
            if chance.random() < 0.25:
                continue
            label = chance.choice([0, 1, 2, 2, 2])
            if chance.random() < 0.8:
                name = truths[[b[1] for b in boxes].index(location)]
                label = {"Pedestrian": 0, "Person_sitting": 0, "Cyclist": 1}.get(name, 2)
            near = [v * chance.uniform(0.97, 1.03) for v in size]
            place = [v + chance.gauss(0, 0.03) for v in location]
            rows += [*near, *place, turn + chance.gauss(0, 0.03), 0, 0, 9,
                     chance.choice([9, 9, -9]), label,
                     chance.choice([round(chance.random(), 1), chance.random()]),
                     1000 + sample]
        if not rows:
            rows = [-1] * 13 + [1000 + sample]
        entries.append((sample, struct.pack(f"<{len(rows)}f", *rows)))
    return infos, entries


def pointpainting(folder, chance, inference, score):
    path = inference / "automotive/3d-object-detection"
    sys.path.insert(0, str(path))
    import shapely.affinity  # pylint: disable=import-outside-toplevel,unused-import
    torch = torch_module()
    sys.modules["torch"] = torch
    evaluate = load(path / "tools/evaluate.py", "waymo_evaluate")
    waymo = module_of("waymo", Waymo=types.SimpleNamespace(
        CLASSES={"Pedestrian": 0, "Cyclist": 1, "Car": 2}))
    tools = module_of("tools.evaluate", do_eval=evaluate.do_eval)
    program = load(path / "accuracy_waymo.py", "accuracy_waymo",
                   **{"waymo": waymo, "tools.evaluate": tools})
    sys.modules.pop("torch")
    infos, entries = frames(chance, 60)
    chance.shuffle(entries)
    (folder / "log.json").write_text(log_of(repeated(chance, entries)))
    (folder / "rows.jsonl").write_text("".join(json.dumps(
        {"image": one["image"], "annos": {k: v.tolist() for k, v in one["annos"].items()}}) + "\n"
        for one in infos))

    class Set:
        CLASSES = waymo.Waymo.CLASSES
        data_infos = infos

        def __init__(self, **_):
            pass
    program.Waymo = Set
    program.CLASSES = Set.CLASSES
    sys.argv = ["x", "--mlperf-accuracy-file", str(folder / "log.json"), "--waymo-dir", "x",
                "--output-file", str(folder / "out.json")]
    real, found = program.do_eval, {}

    def remember(*args, **named):
        found.update(real(*args, **named))
        return dict(found)
    program.do_eval = remember
    said(program.main)
    theirs = {name: float(value[0]) for name, value in found.items()}
    theirs["waymo_map"] = sum(theirs.values()) / 3 / 100
    return theirs, score("pointpainting", "--dataset", folder / "rows.jsonl")["score"]


# ---- 3D U-Net, RetinaNet ------------------------------------------------------------------------


def unet(folder, chance, inference, score):
    import nibabel  # pylint: disable=import-outside-toplevel
    program = load(inference / "vision/medical_imaging/3d-unet-kits19/accuracy_kits.py", "kits")
    kind = chance.choice(["uint8", "int8", "int16", "int32", "int64", "float32", "float64",
                          "float16"])
    theirs, entries, rows = [], [], []
    draw = numpy.random.default_rng(chance.randrange(1 << 30))
    for case in range(6):
        shape = [chance.randint(3, 20) for _ in range(3)]
        truth = draw.choice([0, 1, 2], shape, p=chance.choice([[.8, .15, .05], [1, 0, 0]]))
        noise = draw.random(shape) < 0.2
        guess = numpy.where(noise, draw.integers(0, 3, shape), truth)
        name = f"case_{case}.nii" + chance.choice(["", ".gz"])
        held = chance.choice(["uint8", "int16", "float32", "float64"])
        nibabel.save(nibabel.Nifti1Image(truth.astype(held), numpy.eye(4)), folder / name)
        stored = nibabel.load(folder / name).get_fdata().astype(numpy.uint8)
        _, dice = program.get_dice_score(case, guess[None].astype(numpy.uint8), stored[None])
        theirs.append(dice)
        entries.append((case, guess.astype(kind).tobytes()))
        rows.append({"segmentation": name})
    (folder / "log.json").write_text(log_of(entries))
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    kidney, tumor = numpy.mean(theirs, axis=0)
    return ({"kidney": kidney, "tumor": tumor, "mean_dice": numpy.mean(theirs)},
            score("3d-unet", "--dataset", folder / "rows.jsonl")["score"])


def retinanet(folder, chance, inference, score):
    program = load(inference / "vision/classification_and_detection/tools/accuracy-openimages.py",
                   "openimages")
    images = [{"id": 7 * i + 3, "height": chance.randint(200, 800),
               "width": chance.randint(200, 800), "file_name": f"{i}.jpg",
               "coco_url": ""} for i in range(50)]
    annotations, entries = [], []
    for index, image in enumerate(images):
        rows = []
        for _ in range(chance.randint(0, 6)):
            w, h = (chance.uniform(5, image[side] / 2) for side in ("width", "height"))
            x, y = chance.uniform(0, image["width"] - w), chance.uniform(0, image["height"] - h)
            category = chance.choice([1, 2, 17, 264])
            annotations.append({"id": len(annotations) + 1, "image_id": image["id"],
                                "category_id": category, "bbox": [x, y, w, h], "area": w * h,
                                "iscrowd": int(chance.random() < 0.05)})
            for _ in range(chance.randint(0, 3)):
                a, b = x + chance.gauss(0, w / 15), y + chance.gauss(0, h / 15)
                rows += [index, b / image["height"], a / image["width"],
                         (b + h * chance.uniform(.8, 1.2)) / image["height"],
                         (a + w * chance.uniform(.8, 1.2)) / image["width"],
                         round(chance.random(), 2), category]
        entries.append((index, struct.pack(f"<{len(rows)}f", *rows)))
    truth = {"images": images, "annotations": annotations,
             "categories": [{"id": c, "name": str(c)} for c in (1, 2, 17, 264)]}
    (folder / "truth.json").write_text(json.dumps(truth))
    chance.shuffle(entries)
    (folder / "log.json").write_text(log_of(repeated(chance, entries)))
    os.environ["DATASET_ANNOTATIONS_FILE_PATH"] = str(folder / "truth.json")
    sys.argv = ["x", "--mlperf-accuracy-file", str(folder / "log.json"), "--openimages-dir", "x",
                "--output-file", str(folder / "out.json")]
    found = {}
    real = program.COCOeval

    class Eval(real):
        def summarize(self):
            super().summarize()
            names = ("mAP", "AP50", "AP75")
            found.update({name: 100 * value for name, value in zip(names, self.stats)})
    program.COCOeval = Eval
    said(program.main)
    return found, score("retinanet", "--annotations", folder / "truth.json")["score"]


# ---- RAG ----------------------------------------------------------------------------------------


def rag_db(folder, chance, inference, score):
    program = load(inference / "e2e-rag/datasetup_accuracy_eval.py", "rag_db")
    (folder / "db").write_bytes(chance.randbytes(5000))
    right = hashlib.md5((folder / "db").read_bytes()).hexdigest().encode()
    entries = [(i, chance.choice([b"\1", b"\1", b"\1", b"\0", b"\1\1", b""])) for i in range(200)]
    entries[chance.randrange(200)] = (chance.randrange(200), right)
    entries.append((3, b"\1"))
    (folder / "log.json").write_text(log_of(entries))
    (folder / "mlperf_log_accuracy.json").write_text(log_of(entries))
    theirs = {}
    said(lambda: theirs.update(program.evaluate_accuracy(
        str(folder), str(folder), str(folder / "db"))))
    ours = score("e2e-rag-db", "--extras", json.dumps({"database": str(folder / "db")}))
    rate = theirs["success_count"] / (theirs["success_count"] + theirs["failure_count"]) \
        if "success_count" in theirs else theirs["success_rate"]
    shown = ours["score"]["rag_accuracy"] if ours["score"] else None
    if "error" in theirs:  # no MD5 was returned: neither has a figure
        return {"figure": 0}, {"figure": 0 if shown is None else 1}
    return {"rag_accuracy": 100 * rate}, {"rag_accuracy": shown}


class Judge(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        kind = int(hashlib.sha256(body.encode()).hexdigest(), 16) % 5
        text = ['{"correct": true, "reasoning": "x"}', '```json\n{"correct": false}\n```',
                'So: {"correct": true}.', "no words of JSON", '{"correct": tru'][kind]
        data = json.dumps({"choices": [{"message": {"content": text}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def rag_qna(folder, chance, inference, score):
    program = load(inference / "e2e-rag/accuracy_eval.py", "rag_qna")
    rows, results = ["Prompt\tAnswer\twikipedia_link_1\twikipedia_link_2"], {}
    for i in range(60):
        links = [f"u{chance.randrange(9)}", chance.choice(["", f"u{chance.randrange(9)}"])]
        rows.append(f"question {i}\tanswer {i}\t{links[0]}\t{links[1]}")
        results[str(i)] = {"query": f"question {i}", "answer": chance.choice(["", f"answer {i}"]),
                           "retrieved_urls": [f"u{chance.randrange(9)}" for _ in range(3)]}
    (folder / "set.tsv").write_text("\n".join(rows) + "\n")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Judge)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    theirs = {}
    said(lambda: theirs.update(program.evaluate_results(
        results, str(folder / "set.tsv"), 2,
        judge_service_url=f"http://127.0.0.1:{server.server_port}/v1/chat/completions")))
    server.shutdown()
    (folder / "log.json").write_text(json.dumps(theirs))
    names = ("retrieval_precision", "retrieval_recall", "retrieval_f1")
    return ({"rag_accuracy": 100 * theirs["answer_accuracy"], **{n: theirs[n] for n in names}},
            score("e2e-rag-qna")["score"])


WORKLOADS = {"bert": bert, "dlrm-v2": dlrm, "pointpainting": pointpainting, "3d-unet": unet,
             "retinanet": retinanet, "e2e-rag-db": rag_db, "e2e-rag-qna": rag_qna}
LOOSE = {"pointpainting": 1e-4}


def same(a, b, tolerance):
    return b is not None and math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inference", type=pathlib.Path, required=True)
    parser.add_argument("--assay", default="build/release/assay")
    parser.add_argument("--rounds", type=int, default=20, help="made-up logs for each workload")
    parser.add_argument("--seed", default="1")
    parser.add_argument("workloads", nargs="*", help="by name; none: all")
    options = parser.parse_args()
    different = 0
    for name in options.workloads or WORKLOADS:
        wrong = 0
        shown = {}
        for number in range(options.rounds):
            with tempfile.TemporaryDirectory() as temporary:
                folder = pathlib.Path(temporary)

                def score(workload, *flags, folder=folder):
                    done = subprocess.run(
                        [options.assay, "score", folder / "log.json", "--workload", workload,
                         *flags, "--json"], check=True, capture_output=True, text=True)
                    return json.loads(done.stdout)
                theirs, ours = WORKLOADS[name](
                    folder, random.Random(f"{options.seed} {name} {number}"), options.inference,
                    score)
            shown = theirs
            for key, value in theirs.items():
                if not same(value, ours.get(key), LOOSE.get(name, 1e-6)):
                    print(f"  {name}, log {number}: {key}: theirs {value}, ours {ours.get(key)}")
                    wrong += 1
        figures = ", ".join(f"{key} {value:.6g}" for key, value in shown.items())
        print(f"{name}: {options.rounds} logs, {wrong} figures differ; the last: {figures}")
        different += wrong
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
