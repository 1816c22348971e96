"""Answers of mathematics problems, made up, in pairs that mean the same or nearly so.

Expressions, tuples, intervals, matrices, units, words, money, other scripts, LaTeX that is broken.
pair(chance) gives two of them.
"""

WORDS = [
    "Evelyn", "\\text{Evelyn}", "even", "\\text{(B)}", "(B)", "B", "\\textbf{B}", "yes", "no",
    "infinity", "\\infty", "none", "undefined", "\\emptyset", "\\varnothing", "five", "twelve",
    "Tuesday", "\\text{odd}", "ellipse", "\\text{ellipse}", "A \\text{ and } B", "true",
    "\\mathrm{True}", "答案是五", "\\text{нет}", "left", "p - q", "x \\in \\mathbb{R}",
    "\\mathbf{v}", "\\operatorname{lcm}", "\\%", "\\$5", "i", "2i", "1+2i", "3-4i", "\\sin x",
    "f(x)", "π", "√2", "½", "x²", "∞", "∪", "cinco", "пять", "٥", "５"]
UNITS = [
    " cm", "\\text{ cm}", "\\text{cm}", "\\,\\text{cm}", "\\ \\text{cm}^2", " \\text{ cm}^2",
    " meters", " m", " degrees", "^\\circ", "^{\\circ}", "\\degree", "\\%", " percent", "%",
    " dollars", "\\text{ dollars}", " inches^2", " square units", " hours", " years old",
    "\\mathrm{cm}", "\\mbox{ cm}^2", " million", " billion", "\\text{ miles per hour}", " feet",
    " second", " days"]
ODDS = [
    "1,000", "12,345", "1,234,567", "10,00", "1{,}000", "1,\\!000", "1\\,000", "1 000", "3.0",
    "3.00", "0.50", "\\.25", ".25", "1e3", "1.5e2", "1_000", "007", "-0", "+5", "--5", "5.",
    "\\$1,000", "\\$18.90", "18.9", "33\\%", "33 \\frac{1}{3}", "7 3/4", "11\\frac{1}{2}", "1/2",
    "2/4", "-1/2", "\\frac{-1}{2}", "-\\frac{1}{2}", "\\frac{1}{-2}", "\\frac12", "\\frac1{2}",
    "\\frac{1}2", "0.5", "0.333", "2^{10}", "1024", "10^6", "1 million", "\\frac{\\pi}{2}",
    "\\pi/2", "1.57", "\\sqrt{3}/2", "\\frac{\\sqrt3}{2}", "0.\\overline{3}", "2\\sqrt{2}",
    "\\sqrt{8}", "3:4", "12_{8}", "1010_2", "5!", "120", "90^\\circ", "90", "5,6", "6,5", "5, 6",
    "1,2,3", "2(x+1)", "2x+2", "(x+1)^2", "x^2+2x+1", "(x-1)(x+1)", "x^2-1", "x^{2}-1", "1-x",
    "-(x-1)", "\\frac{x+1}{2}", "\\frac{1}{2}x+\\frac12", "\\text{5}", "\\boxed{5}",
    "\\mathbf{5}", "{5}", "$5$", "5\\text{ or }6", "5 or 6", "5 and 6", "x=5", "y=2x+3", "2x+3",
    "-2<x<5", "(-2,5)", "\\frac{1", "\\frac", "\\sqrt", "\\sqrt{", "{", "}", "\\", "sqrt(2)",
    "sqrt2", "xsqrt(2)", "sqrt(2)x", "(2)3", "2(3)", "x(2)", "x2", "2x", "xx", "x^2", "pi", "2pi",
    "2\\pi", "e^2", "2e", "1/0", "\\frac{1}{0}", "ln(2)", "x_1", "x_{1}", "| a | b |", "**5**"]
BRACKETS = [("(", ")"), ("[", "]"), ("[", ")"), ("(", "]"), ("\\left(", "\\right)"),
            ("\\left[", "\\right)"), ("\\{", "\\}"), ("", ""), ("\\langle ", "\\rangle")]
INSERTED = " \\{}()[]^_,.+-*/!$%&=|<>0123456789xyzπ√∞\n\t~'\"é²½：，"


def number(chance):
    return str(chance.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 25, 100, 144, 1000,
                              chance.randint(0, 99999)]))


def small(chance):
    return str(chance.randint(1, 9))


def expression(chance, depth=0):
    n = number(chance)
    if depth > 2 or chance.random() < 0.28:
        return chance.choice([n, n, "x", "y", "\\pi", "n", "a", "i", "e", n + "x", ".5", "-" + n,
                              f"{n}.{chance.randint(0, 99)}"])
    a = expression(chance, depth + 1)
    b = expression(chance, depth + 1)
    p, q = small(chance), small(chance)
    return chance.choice([
        f"\\frac{{{a}}}{{{b}}}", f"\\dfrac{{{a}}}{{{b}}}", f"\\tfrac{{{a}}}{{{b}}}",
        f"\\frac{p}{q}", f"{a}/{b}", f"\\sqrt{{{a}}}", f"\\sqrt{p}", f"{n}\\sqrt{{{q}}}",
        f"\\sqrt[3]{{{a}}}", f"{a}+{b}", f"{a} - {b}", f"{a}\\cdot {b}", f"{a} \\times {b}",
        f"{a}*{b}", f"{a}^{p}", f"{a}^{{{chance.randint(2, 12)}}}", f"({a})({b})", f"{a}({b})",
        f"({a})^2", f"{n}\\frac{{{p}}}{{{q}}}", f"{n} {p}/{q}", f"{a}!", f"\\left({a}\\right)",
        f"-{a}", f"\\log_{{2}} {b}", f"\\binom{{{p}}}{{{q}}}", f"{a}^\\circ", f"|{a}|",
        f"\\ln {a}", f"\\pm {a}", f"{a}e", f"{a}xy"])


def answer(chance):
    kind = chance.random()
    if kind < 0.40:
        return expression(chance)
    if kind < 0.50:
        return expression(chance) + chance.choice(UNITS)
    if kind < 0.60:
        opening, closing = chance.choice(BRACKETS)
        parts = [expression(chance, 2) for _ in range(chance.choice([1, 2, 2, 3]))]
        return opening + chance.choice([", ", ",", " , "]).join(parts) + closing
    if kind < 0.66:
        left = chance.choice(["x=", "y = ", "x \\le ", "x<", "k = ", "n=", "x \\neq ", "x \\geq ",
                              "AB=", "f(x)=", "x+y="])
        return left + expression(chance, 1)
    if kind < 0.73:
        return chance.choice(WORDS)
    if kind < 0.78:
        join = chance.choice(["\\cup", " \\cup ", "U", "∪", " or ", " and "])
        return (f"({expression(chance, 2)},{chance.choice(['∞', chr(92) + 'infty', '5'])}){join}"
                f"[{expression(chance, 2)}, {expression(chance, 2)}]")
    if kind < 0.83:
        cells = [expression(chance, 2) for _ in range(chance.choice([2, 3]))]
        inside = chance.choice([" & ", "&", "\\\\", " \\\\ "]).join(cells)
        return "\\begin{pmatrix}" + inside + "\\end{pmatrix}"
    return chance.choice(ODDS) if kind < 0.93 else expression(chance, 1)


def changed(chance, text):
    """A rewriting that may keep the meaning."""
    kind = chance.randrange(14)
    at = chance.randint(0, len(text))
    left, plus, right = text.partition("+")
    return [
        text.replace("\\frac", "\\dfrac"), text.replace(" ", ""),
        chance.choice(["$", "", "\\text{", "\\left"]) + text + chance.choice(["$", "", "}", "."]),
        text.replace("(", "\\left(").replace(")", "\\right)"), text.replace("\\cdot", "\\times"),
        "x=" + text, text + chance.choice(UNITS), text.replace("{", "").replace("}", ""),
        right + plus + left, text.replace("\\sqrt{", "sqrt{").replace("\\pi", "π"),
        "(" + text + ")", text.replace("^2", "^{2}"),
        text[:at] + chance.choice(INSERTED) + text[at:], text[:at] + text[at + 1:]][kind]


def pair(chance):
    truth = answer(chance)
    other = answer(chance)
    if chance.random() < 0.7:
        other = truth
        for _ in range(chance.choice([0, 1, 1, 2, 3])):
            other = changed(chance, other)
    return (truth, other) if chance.random() < 0.5 else (other, truth)
