import Synchronization

/// A request's head: its bytes, in place, and what was found in them. A class, since it goes through many hands unchanged.
package final class RequestHead: Sendable {
    /// From the request line through the blank line.
    package let bytes: [UInt8]
    let line: RequestLine
    /// Where the field lines begin; they end with the blank line.
    let fieldsStart: Int
    let body: BodyFraming
    /// Whether the client wants the connection to stay open.
    package let keepsAlive: Bool
    let expectsContinue: Bool
    /// Whether there is a field `Origin`, as browsers send it.
    let hasOrigin: Bool
    /// The handler of later requests with almost the same head, if the request's handler has set one; the loop takes it
    /// from here.
    let repetition = Mutex<Repetition?>(nil)

    init(
        bytes: [UInt8], line: RequestLine, fieldsStart: Int, body: BodyFraming, keepsAlive: Bool, expectsContinue: Bool, hasOrigin: Bool
    ) {
        self.bytes = bytes
        self.line = line
        self.fieldsStart = fieldsStart
        self.body = body
        self.keepsAlive = keepsAlive
        self.expectsContinue = expectsContinue
        self.hasOrigin = hasOrigin
    }
}

extension RequestHead {
    /// The bytes in `range` as UTF-8, invalid ones replaced.
    func text(_ range: Range<Int>) -> String {
        let bytes = bytes
        return bytes.span.text(range)
    }

    /// Calls `body` with the value of each field line named `name`, which is in lower case, until it returns false.
    ///
    /// The lines were checked when they arrived, so finding them again is a walk from line feed to line feed.
    func forEachValue(_ name: String, _ body: (Span<UInt8>, Range<Int>) -> Bool) {
        let storage = bytes
        let bytes = storage.span
        var name = name
        name.withUTF8 { name in
            var start = fieldsStart
            while let end = bytes.firstIndex(of: .lineFeed, in: start..<bytes.count), end > start + 1 {
                let nameEnd = start + name.count
                if nameEnd < end, bytes[nameEnd] == UInt8(ascii: ":"), bytes.matches(from: start, name) {
                    guard body(bytes, bytes.trimming(nameEnd + 1..<end - 1)) else { return }
                }
                start = end + 1
            }
        }
    }

    /// Calls `body` with the name and the value of each field line, in order.
    func forEachField(_ body: (Span<UInt8>, _ name: Range<Int>, _ value: Range<Int>) -> Void) {
        let storage = bytes
        let bytes = storage.span
        var start = fieldsStart
        while let end = bytes.firstIndex(of: .lineFeed, in: start..<bytes.count), end > start + 1 {
            if let colon = bytes.firstIndex(of: UInt8(ascii: ":"), in: start..<end) {
                body(bytes, start..<colon, bytes.trimming(colon + 1..<end - 1))
            }
            start = end + 1
        }
    }
}

extension Span<UInt8> {
    /// Whether the bytes from `start` on equal `lowercase` without regard to case.
    fileprivate func matches(from start: Int, _ lowercase: UnsafeBufferPointer<UInt8>) -> Bool {
        for offset in 0..<lowercase.count where self[start + offset].lowercased != lowercase[offset] { return false }
        return true
    }
}
