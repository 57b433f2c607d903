"""Requests that parsers disagree about: llhttp's strictness vectors and public lists of request smuggling, rebuilt.

Each case is a name, the bytes, what Callgate must answer and why others may not. In an answer `A` is a request that was
seen and answered, `R` one that was refused (400, 411, 413, 414, 417, 431, 501, 505); the connection ends where it ends. Every
case is followed by a marker, `GET /livez`, so `AA` means: the case was one request and the marker another.
"""

HOST = b"Host: 127.0.0.1\r\n"
MARKER = b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Request-Id: marker\r\nConnection: close\r\n\r\n"
SMUGGLED = b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Request-Id: smuggled\r\n\r\n"


def get(target=b"/livez", headers=b"", version=b"HTTP/1.1", method=b"GET", host=HOST, end=b"\r\n"):
    return method + b" " + target + b" " + version + b"\r\n" + host + headers + end


# The body is read before it is answered. What it says does not matter: an answer is an answer.
def post(headers, body=b""):
    return get(b"/v1/chat/completions", headers, method=b"POST") + body


CHUNKED = b"Transfer-Encoding: chunked\r\n"
BODY = b"3\r\nabc\r\n0\r\n\r\n"

CASES = [
    # Framing that is as it should be.
    ("plain", get(), "AA", ""),
    ("length", post(b"Content-Length: 3\r\n", b"abc"), "AA", ""),
    ("length_zero", post(b"Content-Length: 0\r\n"), "AA", ""),
    ("chunked", post(CHUNKED, BODY), "AA", ""),
    ("chunked_case", post(b"transfer-encoding: CHUNKED\r\n", BODY), "AA", ""),
    ("chunk_extension", post(CHUNKED, b"3;a=b;c\r\nabc\r\n0\r\n\r\n"), "R|AA", "an extension without a value is refused by the llhttp of some releases; nobody sends one"),
    ("chunk_extension_quoted", post(CHUNKED, b'3;a="b c"\r\nabc\r\n0\r\n\r\n'), "AA", ""),
    ("trailer", post(CHUNKED, b"3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n"), "AA", ""),
    ("leading_blank_line", b"\r\n" + get(), "AA", ""),
    ("absolute_form", get(b"http://127.0.0.1/livez"), "AA", ""),
    ("empty_value", get(headers=b"X-A:\r\n"), "AA", ""),
    ("blanks_around_value", get(headers=b"X-A: \t b \t\r\n"), "AA", ""),
    ("high_bytes_in_value", get(headers=b"X-A: \xe4\xff\r\n"), "AA", "bytes over 127 are obs-text: allowed, and passed on by nobody"),
    # Two framings, or one that can be read in two ways.
    ("cl_te", post(b"Content-Length: 6\r\n" + CHUNKED, b"0\r\n\r\nG"), "R", "RFC 9112 lets a proxy drop Content-Length; Callgate refuses both together"),
    ("te_cl", post(CHUNKED + b"Content-Length: 4\r\n", b"0\r\n\r\n"), "R", "as cl_te"),
    ("te_cl_smuggled", post(CHUNKED + b"Content-Length: 4\r\n", b"0\r\n\r\n" + SMUGGLED), "R", "as cl_te"),
    ("cl_cl_differ", post(b"Content-Length: 3\r\nContent-Length: 5\r\n", b"abc"), "R", ""),
    ("cl_cl_same", post(b"Content-Length: 3\r\nContent-Length: 3\r\n", b"abc"), "R", "RFC 9110 lets equal lengths be folded into one; Callgate does not guess"),
    ("cl_list", post(b"Content-Length: 3, 3\r\n", b"abc"), "R", "as cl_cl_same"),
    ("cl_list_differ", post(b"Content-Length: 3, 5\r\n", b"abc"), "R", ""),
    ("cl_plus", post(b"Content-Length: +3\r\n", b"abc"), "R", ""),
    ("cl_minus", post(b"Content-Length: -1\r\n"), "R", ""),
    ("cl_hex", post(b"Content-Length: 0x3\r\n", b"abc"), "R", ""),
    ("cl_space", post(b"Content-Length: 3 3\r\n", b"abc"), "R", ""),
    ("cl_underscore", post(b"Content-Length: 1_0\r\n", b"abcdefghij"), "R", ""),
    ("cl_empty", post(b"Content-Length:\r\n"), "R", "an empty length is not a number; Apache and HAProxy differ by version"),
    ("cl_huge", post(b"Content-Length: 18446744073709551616\r\n"), "R", ""),
    ("cl_huge_2", post(b"Content-Length: 99999999999999999999999\r\n"), "R", ""),
    ("cl_zeros", post(b"Content-Length: 0000000000000000000003\r\n", b"abc"), "AA", "leading zeros change nothing"),
    ("cl_letter", post(b"Content-Length: 3a\r\n", b"abc"), "R", ""),
    ("cl_vtab", post(b"Content-Length: \x0b3\r\n", b"abc"), "R", ""),
    ("te_identity", post(b"Transfer-Encoding: identity\r\nContent-Length: 3\r\n", b"abc"), "R", "identity is gone since RFC 7230"),
    ("te_twice", post(b"Transfer-Encoding: chunked\r\n" * 2, BODY), "R", "chunked must be applied once"),
    ("te_chunked_chunked", post(b"Transfer-Encoding: chunked, chunked\r\n", BODY), "R", "as te_twice"),
    ("te_chunked_identity", post(b"Transfer-Encoding: chunked, identity\r\n", BODY), "R", ""),
    ("te_identity_chunked", post(b"Transfer-Encoding: identity, chunked\r\n", BODY), "R", "a coding that is gone; node, HAProxy and Apache look at the last one only"),
    ("te_gzip_chunked", post(b"Transfer-Encoding: gzip, chunked\r\n", BODY), "R", "a coding that Callgate does not decode; node, HAProxy and Apache pass the bytes on as they are"),
    ("te_gzip", post(b"Transfer-Encoding: gzip\r\n"), "R", ""),
    ("te_empty", post(b"Transfer-Encoding:\r\nContent-Length: 3\r\n", b"abc"), "R", "node takes an empty Transfer-Encoding for none"),
    ("te_xchunked", post(b"Transfer-Encoding: xchunked\r\n", BODY), "R", ""),
    ("te_chunkedx", post(b"Transfer-Encoding: chunked-x\r\n", BODY), "R", ""),
    ("te_quoted", post(b'Transfer-Encoding: "chunked"\r\n', BODY), "R", ""),
    ("te_semicolon", post(b"Transfer-Encoding: chunked;q=1\r\n", BODY), "R", ""),
    ("te_comma", post(b"Transfer-Encoding: ,chunked\r\n", BODY), "R", "an empty element is a list's liberty; not one for framing"),
    ("te_comma_after", post(b"Transfer-Encoding: chunked,\r\n", BODY), "R", "as te_comma"),
    ("te_space_before_colon", post(b"Transfer-Encoding : chunked\r\n", BODY), "R", ""),
    ("te_tab_before_colon", post(b"Transfer-Encoding\t: chunked\r\n", BODY), "R", ""),
    ("te_leading_space", post(b" Transfer-Encoding: chunked\r\n", BODY), "R", "HAProxy joins a first line that begins with a blank to the one before"),
    ("te_tab_value", post(b"Transfer-Encoding:\tchunked\r\n", BODY), "AA", "nginx wants a space, not a tab, before this value"),
    ("te_vtab_value", post(b"Transfer-Encoding: \x0bchunked\r\n", BODY), "R", ""),
    ("te_folded", post(b"Transfer-Encoding:\r\n chunked\r\n", BODY), "R", "obsolete folding; RFC 9112 lets a server unfold it"),
    ("te_newline_name", post(b"X: y\nTransfer-Encoding: chunked\r\n", BODY), "R", "a bare line feed ends no line here; RFC 9112 lets a server take it for one"),
    ("te_null", post(b"Transfer-Encoding: chunked\x00\r\n", BODY), "R", ""),
    ("te_http_10", get(b"/v1/chat/completions", CHUNKED, method=b"POST", version=b"HTTP/1.0") + BODY, "R", "HTTP/1.0 has no chunks; HAProxy and Apache read them"),
    # Chunks.
    ("chunk_size_empty", post(CHUNKED, b"\r\nabc\r\n0\r\n\r\n"), "R", ""),
    ("chunk_size_negative", post(CHUNKED, b"-1\r\nabc\r\n0\r\n\r\n"), "R", ""),
    ("chunk_size_plus", post(CHUNKED, b"+3\r\nabc\r\n0\r\n\r\n"), "R", ""),
    ("chunk_size_0x", post(CHUNKED, b"0x3\r\nabc\r\n0\r\n\r\n"), "R", ""),
    ("chunk_size_space", post(CHUNKED, b"3 \r\nabc\r\n0\r\n\r\n"), "R", "blanks after a size are tolerated by some; two readers may cut them differently"),
    ("chunk_size_leading_space", post(CHUNKED, b" 3\r\nabc\r\n0\r\n\r\n"), "R", ""),
    ("chunk_size_overflow", post(CHUNKED, b"10000000000000003\r\nabc\r\n0\r\n\r\n"), "R", ""),
    ("chunk_size_underscore", post(CHUNKED, b"0_3\r\nabc\r\n0\r\n\r\n"), "R", ""),
    ("chunk_lf", post(CHUNKED, b"3\nabc\r\n0\r\n\r\n"), "R", "as te_newline_name"),
    ("chunk_data_lf", post(CHUNKED, b"3\r\nabc\n0\r\n\r\n"), "R", "as te_newline_name"),
    ("chunk_data_long", post(CHUNKED, b"3\r\nabcd\r\n0\r\n\r\n"), "R", ""),
    ("chunk_data_cr", post(CHUNKED, b"3\r\nabc\r0\r\n\r\n"), "R", ""),
    ("chunk_extension_cr", post(CHUNKED, b"3;a\rb\r\nabc\r\n0\r\n\r\n"), "R", "a bare carriage return in an extension; some take it for text"),
    ("chunk_extension_lf", post(CHUNKED, b"3;a\nabc\r\n0\r\n\r\n"), "R", "as te_newline_name"),
    ("trailer_without_colon", post(CHUNKED, b"0\r\nnonsense\r\n\r\n"), "R", "nginx reads over trailers"),
    ("trailer_content_length", post(CHUNKED, b"0\r\nContent-Length: 5\r\n\r\n"), "AA", "a trailer never frames: Callgate drops it as nginx and Apache do, others refuse it"),
    # Lines and names.
    ("lf_line_ends", get().replace(b"\r\n", b"\n"), "R", "as te_newline_name"),
    ("lf_request_line", b"GET /livez HTTP/1.1\n" + HOST + b"\r\n", "R", "as te_newline_name"),
    ("cr_line_end", b"GET /livez HTTP/1.1\r" + HOST + b"\r\n", "R", ""),
    ("cr_in_value", get(headers=b"X-A: a\rb\r\n"), "R", ""),
    ("lf_in_value", get(headers=b"X-A: a\nb\r\n"), "R", "as te_newline_name: nginx takes the rest for a field without a colon, and passes over it"),
    ("nul_in_value", get(headers=b"X-A: a\x00b\r\n"), "R", ""),
    ("control_in_value", get(headers=b"X-A: a\x01b\r\n"), "R", "nginx lets it pass, and node behind it refuses it"),
    ("del_in_value", get(headers=b"X-A: a\x7fb\r\n"), "R", "as control_in_value"),
    ("folded", get(headers=b"X-A: a\r\n b\r\n"), "R", "as te_folded"),
    ("no_colon", get(headers=b"nonsense\r\n"), "R", "nginx passes over lines that are not fields"),
    ("no_name", get(headers=b": a\r\n"), "R", ""),
    ("space_in_name", get(headers=b"X A: a\r\n"), "R", "nginx passes over names that it does not understand"),
    ("space_before_colon", get(headers=b"X-A : a\r\n"), "R", ""),
    ("slash_in_name", get(headers=b"X/A: a\r\n"), "R", "nginx passes over names that it does not understand"),
    ("nul_in_name", get(headers=b"X\x00A: a\r\n"), "R", ""),
    ("high_byte_in_name", get(headers=b"X\xe4A: a\r\n"), "R", "as slash_in_name"),
    ("first_line_folded", get(headers=b"", host=b" Host: 127.0.0.1\r\n"), "R", ""),
    ("underscore_length", post(b"Content_Length: 3\r\nContent-Length: 0\r\n"), "AA", "another name; proxies that map _ to - are to drop it"),
    # Hosts.
    ("host_missing", get(host=b""), "R", "HAProxy refuses it too, as a proxy that does not close"),
    ("host_twice", get(host=HOST * 2), "R", "node and HAProxy take the first"),
    ("host_list", get(host=b"Host: 127.0.0.1, evil\r\n"), "R", "node and HAProxy do not look into Host"),
    ("host_at", get(host=b"Host: a@127.0.0.1\r\n"), "R", "only Callgate and Apache refuse a user in Host"),
    ("host_space", get(host=b"Host: 127.0.0.1 x\r\n"), "R", "as host_list"),
    ("host_slash", get(host=b"Host: 127.0.0.1/x\r\n"), "R", "as host_list"),
    ("host_port_text", get(host=b"Host: 127.0.0.1:x\r\n"), "AA|R", "no port of Host is used; Apache refuses what is not a number"),
    ("host_10_missing", get(version=b"HTTP/1.0", host=b""), "A", "HTTP/1.0 needs no Host; a node of today asks for one"),
    # Request lines.
    ("version_12", get(version=b"HTTP/1.2"), "R", "RFC 9110 lets a higher minor version pass; nobody sends one"),
    ("version_20", get(version=b"HTTP/2.0"), "R", "HAProxy and Apache take 2.0 on a line of HTTP/1 for 1.1"),
    ("version_lower_case", get(version=b"http/1.1"), "R", ""),
    ("version_long", get(version=b"HTTP/1.10"), "R", "nginx reads a minor version of two digits"),
    ("version_09", b"GET /livez\r\n", "R", "HTTP/0.9: nginx and Apache still answer it"),
    ("method_lower_case", get(method=b"get"), "R", "methods have cases; an unknown one is another server's 405"),
    ("method_unknown", get(method=b"FOO"), "R", "nginx lets any method pass, and node behind it refuses this one"),
    ("method_odd", get(method=b"G(T"), "R", ""),
    ("target_space", get(b"/li vez"), "R", ""),
    ("target_control", get(b"/li\x01vez"), "R", ""),
    ("target_nul", get(b"/li\x00vez"), "R", ""),
    ("target_high_byte", get(b"/li\xe4vez"), "R", "targets are ASCII; nginx and Apache let bytes pass"),
    ("target_fragment", get(b"/livez#x"), "AA|R", "a fragment is never sent; most servers cut it off or find no such path"),
    ("target_no_slash", get(b"livez"), "R", ""),
    ("target_asterisk", get(b"*"), "AA|R", "`*` belongs to OPTIONS; here it is a path that does not exist"),
    ("target_authority", get(b"127.0.0.1:80"), "R", ""),
    ("line_tab", b"GET\t/livez\tHTTP/1.1\r\n" + HOST + b"\r\n", "R", "HAProxy takes a tab for a space"),
    ("h2_preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "R", "HTTP/2 is not spoken on this port; HAProxy speaks it"),
    ("expect_unknown", post(b"Expect: 200-ok\r\nContent-Length: 3\r\n", b"abc"), "R", "417: an expectation that cannot be met; others pass over it, or keep the connection"),
    ("upgrade_h2c", get(headers=b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n"), "AA", "an upgrade that is not offered is passed over; node closes after it"),
    ("get_with_body", get(headers=b"Content-Length: 3\r\n") + b"abc", "AA", ""),
    ("pipelined", get() + get(), "AAA", ""),
]
