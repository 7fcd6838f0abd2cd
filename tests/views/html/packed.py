"""The numbers of a page, unpacked without its script."""

import json
import re
from itertools import islice

BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def block(path, name):
    text = path.read_text(encoding="utf-8")
    return re.search(f'<script type="application/json" id="{name}">(.*?)</script>', text, re.DOTALL).group(1)


def numbers_of(path):
    """What the script reads; of grids, the errors without the limits that it makes of them."""
    return unpacked(json.loads(block(path, "numbers")))


def unpacked(packed):
    pool, models, width = packed["pool"], packed["models"], packed["width"]

    def opened(node):
        if isinstance(node, str):
            if not node.startswith("$"):
                return node
            return node[1:] if node.startswith("$$") else made(pool[int(node[1:])])
        if isinstance(node, list):
            return [opened(each) for each in node]
        return {name: opened(each) for name, each in node.items()} if isinstance(node, dict) else node

    def made(item):
        if isinstance(item, str):
            return item
        if "names" in item:
            return [opened(each) for each in item["names"]]
        if "records" in item:
            names, columns = opened(item["records"]), [opened(each) for each in item["columns"]]
            return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        if "models" in item:
            lists = [re.findall("." * width, codes) for codes in item["models"][0].split(";")]
            return [[models[int(code, 36)] for code in codes] for codes in lists]
        axes = [opened(each) for each in item["axes"]]
        length = axes[-1] if isinstance(axes[-1], int) else len(axes[-1])
        return shaped(iter(decoded(item["values"], length, item["unit"])), axes, "gaps" in item)

    return opened(packed["numbers"])


def decoded(text, length, unit):
    steps, values = [], []
    for code in re.findall(r"\.|[g-z0-9+/]*[A-Za-f]", text):
        k = len(steps)
        if code == ".":
            steps.append(0)
            values.append(None)
            continue
        rest = sum((BASE64.index(digit) & 31) << (5 * j) for j, digit in enumerate(code))
        above = steps[k - length] if k >= length else 0
        corner = steps[k - 1 - length] if k > length else 0
        before = steps[k - 1] - corner if k % length else 0
        steps.append((-(rest >> 1) if rest & 1 else rest >> 1) + before + above)
        values.append(float(f"{steps[k]}e{unit}"))
    return values


def shaped(values, axes, has_gaps):
    axis, *rest = axes
    n = axis if isinstance(axis, int) else len(axis)
    parts = [shaped(values, rest, has_gaps) for _ in range(n)] if rest else list(islice(values, n))
    if not rest and has_gaps and all(each is None for each in parts):
        return None
    return parts if isinstance(axis, int) else dict(zip(axis, parts, strict=True))
