"""The manual pages: callgate(1) as the binary prints it, callgate.toml(5) from docs/config.md."""
import re

from common import ROOT, VERSION, run, write


def roff(text):
    """A line of Markdown as roff."""
    text = text.replace("\\|", "|").replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"\\fB\1\\fR", text)
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", text)
    return "\\&" + text if text[:1] in (".", "'") else text


def from_markdown(markdown):
    """Headings, paragraphs, lists, code and tables, which is all that the page has."""
    out, in_code, in_table = [], False, False
    for line in markdown.split("\n"):
        if line.startswith("```"):
            in_code = not in_code
            out.append(".PP\n.nf\n.RS 4" if in_code else ".RE\n.fi")
        elif in_code:
            out.append("\\&" + line.replace("\\", "\\e").replace("-", "\\-") if line else "")
        elif line.startswith("#"):
            out.append(".SH " + roff(line.lstrip("# ")).upper().replace("\\FB", "").replace("\\FR", ""))
        elif line.startswith("|"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if set(cells[0]) <= {"-"} or not in_table:
                in_table = True
                continue
            default = f" (default: {roff(cells[1])})" if len(cells) > 2 and cells[1] else ""
            out.append(f".TP\n{roff(cells[0])}{default}\n{roff(cells[-1])}")
        elif line.startswith("- "):
            out.append(".IP \\(bu 2\n" + roff(line[2:]))
        elif not line:
            in_table = False
            out.append(".PP")
        elif not line.startswith("<!--"):
            out.append(roff(line.strip()))
    text = "\n".join(out)
    return re.sub(r"(\.PP\n)+(?=\.(PP|SH|TP|IP))", "", text).rstrip("\n.P") + "\n"


def write_pages(callgate, folder):
    write(folder / "callgate.1", run(callgate, "manual") + "\n")
    markdown = (ROOT / "docs/config.md").read_text(encoding="utf-8").split("\n", 1)[1]
    head = (f'.TH CALLGATE.TOML 5 "" "callgate {VERSION}" "File Formats"\n.SH NAME\ncallgate.toml \\- configuration of callgate\n'
            ".SH DESCRIPTION\n")
    write(folder / "callgate.toml.5", head + from_markdown(markdown.strip()) + ".SH SEE ALSO\n\\fBcallgate\\fR(1)\n")
    return folder
