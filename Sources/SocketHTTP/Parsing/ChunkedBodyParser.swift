/// Decodes a chunked body, RFC 9112 §7.1, from pieces of any size. Extensions are skipped, trailers checked and dropped.
struct ChunkedBodyParser: Sendable {
    private enum Stage {
        case size(digits: Int)
        case extensionText
        case sizeFeed
        case data
        case dataReturn
        case dataFeed
        case trailer
    }

    private var stage = Stage.size(digits: 0)
    private var remaining = 0
    /// Bytes spent on extensions and trailers, bounded so that a small body cannot be wrapped without end.
    private var overhead = 0
    private var trailerLine: [UInt8] = []

    /// Bytes that it keeps beside the body.
    var heldBytes: Int { trailerLine.count }

    /// Consumes what it can of `input` from `position` on and appends data to `body`; returns true at the body's end.
    mutating func advance(
        _ input: Span<UInt8>, _ position: inout Int, into body: inout [UInt8], _ limits: ParserLimits
    ) throws(RequestFailure) -> Bool {
        while position < input.count {
            if case .data = stage {
                takeData(input, &position, into: &body)
                continue
            }
            let byte = input[position]
            position += 1
            switch stage {
            case .size(let digits):
                try takeSize(byte, digits, bodyCount: body.count, limits)
            case .extensionText:
                try takeExtension(byte, limits)
            case .sizeFeed:
                try expect(byte, .lineFeed)
                stage = remaining == 0 ? .trailer : .data
            case .data:
                break
            case .dataReturn:
                try expect(byte, .carriageReturn)
                stage = .dataFeed
            case .dataFeed:
                try expect(byte, .lineFeed)
                stage = .size(digits: 0)
            case .trailer:
                if try takeTrailer(byte, limits) { return true }
            }
        }
        return false
    }

    private mutating func takeSize(_ byte: UInt8, _ digits: Int, bodyCount: Int, _ limits: ParserLimits) throws(RequestFailure) {
        if let value = byte.hexadecimalValue {
            // Leading zeros are digits too: sixteen of them are enough for any size.
            guard digits < 16, remaining <= Int.max >> 4 else { throw RequestFailure(.malformed, "A chunk size is beyond any number") }
            remaining = remaining << 4 | Int(value)
            stage = .size(digits: digits + 1)
            return
        }
        guard digits > 0 else { throw RequestFailure(.malformed, "A chunk does not start with its size") }
        guard remaining <= limits.bodyBytes - bodyCount else {
            throw RequestFailure(.bodyTooLarge, "The body is larger than \(limits.bodyBytes) bytes")
        }
        switch byte {
        case .carriageReturn: stage = .sizeFeed
        case UInt8(ascii: ";"): stage = .extensionText
        default: throw RequestFailure(.malformed, "A chunk size is not hexadecimal")
        }
    }

    private mutating func takeExtension(_ byte: UInt8, _ limits: ParserLimits) throws(RequestFailure) {
        try spend(1, limits)
        if byte == .carriageReturn {
            stage = .sizeFeed
        } else if !byte.isFieldContent {
            throw RequestFailure(.malformed, "A chunk extension holds a control byte")
        }
    }

    private mutating func takeData(_ input: Span<UInt8>, _ position: inout Int, into body: inout [UInt8]) {
        let count = min(remaining, input.count - position)
        input.append(position..<position + count, to: &body)
        position += count
        remaining -= count
        if remaining == 0 { stage = .dataReturn }
    }

    /// Returns true at the blank line that ends the trailers.
    private mutating func takeTrailer(_ byte: UInt8, _ limits: ParserLimits) throws(RequestFailure) -> Bool {
        try spend(1, limits)
        guard byte == .lineFeed else {
            trailerLine.append(byte)
            return false
        }
        guard trailerLine.last == .carriageReturn else {
            throw RequestFailure(.malformed, "A line ends with a bare line feed")
        }
        guard trailerLine.count > 1 else { return true }
        _ = try FieldLine(trailerLine.span, 0..<trailerLine.count - 1)
        trailerLine.removeAll(keepingCapacity: true)
        return false
    }

    private mutating func spend(_ count: Int, _ limits: ParserLimits) throws(RequestFailure) {
        overhead += count
        guard overhead <= limits.headerBytes else {
            throw RequestFailure(.headersTooLarge, "Chunk extensions and trailers are larger than \(limits.headerBytes) bytes")
        }
    }

    private func expect(_ byte: UInt8, _ expected: UInt8) throws(RequestFailure) {
        guard byte == expected else { throw RequestFailure(.malformed, "A chunk does not end with CRLF") }
    }
}

extension Span<UInt8> {
    /// Appends the bytes in `range` to `array`.
    func append(_ range: Range<Int>, to array: inout [UInt8]) {
        withUnsafeBytes { array.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
}
