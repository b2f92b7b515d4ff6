import FreshetSocketHTTP

/// Finds where a server's response begins and ends, and leaves its bytes alone.
struct ResponseScanner {
    /// How a response's body is delimited.
    enum Body {
        case length(Int)
        case chunked(ChunkedBodyReader)
        case untilClose
    }

    /// The head of a response.
    struct Head {
        /// The bytes of the head, with its empty line.
        let count: Int
        let status: Int
        let body: Body
    }

    /// Whether the request was `HEAD`.
    let isHeadOnly: Bool

    /// The head at the beginning of the bytes; `nil` while it is not complete.
    func head(_ bytes: [UInt8]) -> Head? {
        guard let end = Self.endOfHead(bytes) else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).lowercased().split(separator: "\r\n")
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        var (length, isChunked) = (Int?.none, false)
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].trimmingPrefix { $0 == " " }
            switch line[..<colon] {
            case "content-length": length = Int(value)
            case "transfer-encoding": isChunked = value.hasSuffix("chunked")
            default: break
            }
        }
        let isBare = isHeadOnly || status < 200 || status == 204 || status == 304
        let body: Body = isBare ? .length(0) : isChunked ? .chunked(ChunkedBodyReader()) : length.map(Body.length) ?? .untilClose
        return Head(count: end, status: status, body: body)
    }

    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        for end in bytes.indices where bytes[end] == 0x0A && end >= 3 && bytes[end - 2] == 0x0A { return end + 1 }
        return nil
    }
}

extension ResponseScanner.Body {
    /// Reads the body's bytes. Returns how many belong to it, and whether it ends with them. A body that is not chunked
    /// as it claims lasts until the connection ends.
    mutating func read(_ bytes: [UInt8]) -> (count: Int, isComplete: Bool) {
        switch self {
        case .length(let length):
            let count = min(length, bytes.count)
            self = .length(length - count)
            return (count, count == length)
        case .chunked(var reader):
            var position = 0
            guard let isComplete = try? reader.read(bytes, from: &position) else {
                self = .untilClose
                return (bytes.count, false)
            }
            self = .chunked(reader)
            return (position, isComplete)
        case .untilClose: return (bytes.count, false)
        }
    }

    /// Whether its length is not known in advance.
    var isStream: Bool { if case .length = self { false } else { true } }
}
