extension FramingCase {
    static let lengths: [FramingCase] = [
        post("a length", "Content-Length: 5", "hello", 200, end: .open, text: "hello", split: true),
        post("a length of zero", "Content-Length: 0", 200, end: .open, text: ""),
        post("no length at all", "Accept: a", 200, end: .open, text: ""),
        post("a length with leading zeros", "Content-Length: 005", "hello", 200, end: .open, text: "hello"),
        post("two lengths", "Content-Length: 5\r\nContent-Length: 6", "hello!", 400, end: .closed),
        post("two equal lengths", "Content-Length: 5\r\nContent-Length: 5", "hello", 400, end: .closed),
        post("a list of lengths", "Content-Length: 5, 5", "hello", 400, end: .closed),
        post("a length with a plus sign", "Content-Length: +5", "hello", 400, end: .closed),
        post("a negative length", "Content-Length: -5", "hello", 400, end: .closed),
        post("a hexadecimal length", "Content-Length: 0x5", "hello", 400, end: .closed),
        post("a length with a fraction", "Content-Length: 5.0", "hello", 400, end: .closed),
        post("a length with a space", "Content-Length: 5 5", "hello", 400, end: .closed),
        post("an empty length", "Content-Length:", "hello", 400, end: .closed),
        post("a length beyond 64 bits", "Content-Length: 18446744073709551621", "hello", 400, end: .closed),
        post("a length just beyond 63 bits", "Content-Length: 9223372036854775808", "hello", 400, end: .closed),
        post("the largest length", "Content-Length: 9223372036854775807", "hello", 413, end: .closed),
        post("a body at the limit", "Content-Length: 256", String(repeating: "b", count: 256), 200, end: .open),
        post("a body beyond the limit", "Content-Length: 257", String(repeating: "b", count: 257), 413, end: .closed),
        post("a body beyond the limit that never comes", "Content-Length: 100000", 413, end: .closed),
        FramingCase(
            "a GET with a body", "GET /ok HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 200, end: .open, text: "ok"),
    ]

    static let codings: [FramingCase] = [
        post("both length and coding", "Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n", 400, end: .closed, split: true),
        post("both, the other way round", "Transfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n", 400, end: .closed),
        post("an unknown coding", "Transfer-Encoding: gzip", 501, end: .closed),
        post("an unknown coding before chunked", "Transfer-Encoding: gzip, chunked", "0\r\n\r\n", 501, end: .closed),
        post("chunked is not the last", "Transfer-Encoding: chunked, gzip", "0\r\n\r\n", 400, end: .closed),
        post("chunked is not the last, in two lines", "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip", 400, end: .closed),
        post("chunked twice", "Transfer-Encoding: chunked, chunked", "0\r\n\r\n", 400, end: .closed),
        post("identity", "Transfer-Encoding: identity", 501, end: .closed),
        post("almost chunked", "Transfer-Encoding: xchunked", 501, end: .closed),
        post("chunked with a parameter", "Transfer-Encoding: chunked;a=b", 501, end: .closed),
        post("chunked in quotes", "Transfer-Encoding: \"chunked\"", 501, end: .closed),
        post("an empty coding", "Transfer-Encoding:", 400, end: .closed),
        post("chunked in capitals", "Transfer-Encoding: CHUNKED", "0\r\n\r\n", 200, end: .open, text: ""),
        post("chunked after an empty member", "Transfer-Encoding: , chunked", "0\r\n\r\n", 200, end: .open, text: ""),
        FramingCase(
            "chunked in HTTP/1.0", "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, end: .closed),
    ]

    static let chunks: [FramingCase] = [
        chunked("one chunk", "5\r\nhello\r\n0\r\n\r\n", 200, end: .open, text: "hello", split: true),
        chunked("two chunks", "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", 200, end: .open, text: "hello world"),
        chunked("a size in capitals", "A\r\n0123456789\r\n0\r\n\r\n", 200, end: .open, text: "0123456789"),
        chunked("a size with leading zeros", "0005\r\nhello\r\n000\r\n\r\n", 200, end: .open, text: "hello"),
        chunked("an extension", "5;a=b\r\nhello\r\n0;c=\"d\"\r\n\r\n", 200, end: .open, text: "hello", split: true),
        chunked("a trailer", "5\r\nhello\r\n0\r\nTrailer: a\r\nOther: b\r\n\r\n", 200, end: .open, text: "hello", split: true),
        chunked("CRLF within the data", "4\r\na\r\nb\r\n0\r\n\r\n", 200, end: .open, text: "a\r\nb"),
        chunked("no size", "\r\nhello\r\n0\r\n\r\n", 400, end: .closed),
        chunked("only an extension", ";a=b\r\nhello\r\n0\r\n\r\n", 400, end: .closed),
        chunked("a size that is not hexadecimal", "g\r\nhello\r\n0\r\n\r\n", 400, end: .closed),
        chunked("a size with a prefix", "0x5\r\nhello\r\n0\r\n\r\n", 400, end: .closed),
        chunked("a negative size", "-5\r\nhello\r\n0\r\n\r\n", 400, end: .closed),
        chunked("a space before a size", " 5\r\nhello\r\n0\r\n\r\n", 400, end: .closed),
        chunked("a space after a size", "5 \r\nhello\r\n0\r\n\r\n", 400, end: .closed),
        chunked("a size beyond 64 bits", "10000000000000005\r\nhello\r\n0\r\n\r\n", 400, end: .closed),
        chunked("the largest size", "7fffffffffffffff\r\nhello", 413, end: .closed),
        chunked("a size beyond the limit", "101\r\n", 413, end: .closed),
        chunked("chunks beyond the limit together", "ff\r\n" + String(repeating: "c", count: 255) + "\r\n2\r\n", 413, end: .closed),
        chunked("data longer than its size", "5\r\nhello!\r\n0\r\n\r\n", 400, end: .closed, split: true),
        chunked("data shorter than its size", "6\r\nhello\r\n0\r\n\r\n", 400, end: .closed),
        chunked("a bare LF after a size", "5\nhello\r\n0\r\n\r\n", 400, end: .closed),
        chunked("a bare LF after data", "5\r\nhello\n0\r\n\r\n", 400, end: .closed),
        chunked("a bare CR after a size", "5\rhello\r\n0\r\n\r\n", 400, end: .closed),
        chunked("a bare LF in an extension", "5;a\nhello\r\n0\r\n\r\n", 400, end: .closed),
        chunked("a control byte in an extension", "5;a\u{1}\r\nhello\r\n0\r\n\r\n", 400, end: .closed),
        chunked("an extension without end", "5;" + String(repeating: "a", count: 600), 431, end: .closed),
        chunked("a trailer without a colon", "0\r\nTrailer\r\n\r\n", 400, end: .closed),
        chunked("a folded trailer", "0\r\nTrailer: a\r\n b\r\n\r\n", 400, end: .closed),
        chunked("a bare LF after a trailer", "0\r\nTrailer: a\n\r\n", 400, end: .closed),
        chunked("trailers without end", "0\r\nTrailer: " + String(repeating: "a", count: 600), 431, end: .closed),
    ]

    static let expectations: [FramingCase] = [
        post("a client that waits to be asked", "Expect: 100-continue\r\nContent-Length: 5", "hello", 200, end: .open, text: "hello"),
        post("an expectation in capitals", "Expect: 100-CONTINUE\r\nContent-Length: 2", "ok", 200, end: .open, text: "ok"),
        post("nothing to wait for", "Expect: 100-continue", 200, end: .open, text: ""),
        post("another expectation", "Expect: a-miracle\r\nContent-Length: 2", "ok", 417, end: .closed),
        post("a body too large to ask for", "Expect: 100-continue\r\nContent-Length: 1000", 413, end: .closed),
        FramingCase(
            "HTTP/1.0 knows no 100", "POST /echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok", 200, end: .closed,
            text: "ok"),
    ]

    static let connections: [FramingCase] = [
        FramingCase("close", "GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200, end: .closed, text: "ok"),
        FramingCase("close in a list", "GET /ok HTTP/1.1\r\nHost: x\r\nConnection: foo, Close\r\n\r\n", 200, end: .closed),
        FramingCase(
            "close in a second line", "GET /ok HTTP/1.1\r\nHost: x\r\nConnection: a\r\nConnection: close\r\n\r\n", 200, end: .closed),
        FramingCase("keep-alive changes nothing", "GET /ok HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n", 200, end: .open),
        FramingCase("HTTP/1.0 closes", "GET /ok HTTP/1.0\r\n\r\n", 200, end: .closed, text: "ok"),
        FramingCase("HTTP/1.0 with keep-alive", "GET /ok HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 200, end: .open, text: "ok"),
        FramingCase("HTTP/1.0 with both", "GET /ok HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", 200, end: .closed),
        FramingCase("HTTP/1.0 with two Hosts", "GET /ok HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400, end: .closed),
        FramingCase("HTTP/1.0 with a body", "POST /echo HTTP/1.0\r\nContent-Length: 2\r\n\r\nok", 200, end: .closed, text: "ok"),
        FramingCase("close from another thread", "GET /later HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200, end: .closed),
        FramingCase(
            "close of a shared answer", "GET /encoded HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200, end: .closed, text: "encoded"),
        FramingCase(
            "keep-alive of a shared answer", "GET /encoded HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 200, end: .open, text: "encoded"),
        FramingCase(
            "bytes after close are not read", "GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGARBAGE\r\n\r\n", 200,
            end: .closedOrReset),
    ]

    static let sequences: [FramingCase] = [
        FramingCase(
            "three requests at once",
            "GET /ok HTTP/1.1\r\nHost: x\r\n\r\nGET /later HTTP/1.1\r\nHost: x\r\n\r\nGET /encoded HTTP/1.1\r\nHost: x\r\n\r\n",
            200, 200, 200, end: .open, text: "encoded", split: true),
        FramingCase(
            "a body, then a request",
            "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET /ok HTTP/1.1\r\nHost: x\r\n\r\n",
            200, 200, end: .open, text: "ok", split: true),
        FramingCase(
            "a chunked body, then a request",
            "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\nGET /ok HTTP/1.1\r\nHost: x\r\n\r\n",
            200, 200, end: .open, text: "ok"),
        FramingCase(
            "an empty line between requests",
            "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n\r\nGET /ok HTTP/1.1\r\nHost: x\r\n\r\n", 200, 200, end: .open),
        FramingCase(
            "a good request, then a bad one", "GET /later HTTP/1.1\r\nHost: x\r\n\r\nBAD\r\n\r\n", 200, 400, end: .closed, split: true),
        FramingCase(
            "a GET behind one that waits, then a POST",
            "GET /later HTTP/1.1\r\nHost: x\r\n\r\nPOST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nokGET /later HTTP/1.1\r\nHost: x\r\n\r\n",
            200, 200, 200, end: .open, text: "later"),
        FramingCase(
            "a hidden request behind a wrong length",
            "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\nGET /ok HTTP/1.1\r\nHost: x\r\n\r\n",
            400, end: .closed),
        FramingCase(
            "more requests than may wait at once",
            String(repeating: "GET /later HTTP/1.1\r\nHost: x\r\n\r\n", count: 40).utf8.map { $0 }, Array(repeating: 200, count: 40),
            end: .open),
    ]
}
