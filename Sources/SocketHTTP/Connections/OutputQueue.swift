import Glibc

/// Bytes that a peer has not accepted yet, oldest first. Shared bytes stay shared.
struct OutputQueue {
    private var pieces: [[UInt8]] = []
    /// Pieces before this one are sent.
    private var first = 0
    /// Bytes of the first piece that are sent.
    private var offset = 0
    /// Bytes that are not sent.
    private(set) var count = 0
    /// Bytes that were sent from here.
    private(set) var sent = 0

    var isEmpty: Bool { count == 0 }

    /// Adds the bytes of `piece` from `start` on. Returns the array that it keeps of them.
    @discardableResult
    mutating func append(_ piece: [UInt8], from start: Int = 0) -> [UInt8] {
        guard start < piece.count else { return [] }
        if isEmpty {
            pieces = [piece]
            (first, offset, count) = (0, start, piece.count - start)
            return piece
        }
        // Only a piece that begins the queue can be partly sent.
        let kept = start == 0 ? piece : Array(piece[start...])
        pieces.append(kept)
        count += kept.count
        return kept
    }

    /// Calls the closure with each array that it keeps.
    func forEachPiece(_ body: ([UInt8]) -> Void) {
        for piece in pieces[first...] { body(piece) }
    }

    /// Removes the first `sent` bytes; calls `release` with each array that was kept for them.
    mutating func consume(_ sent: Int, release: ([UInt8]) -> Void = { _ in }) {
        self.sent &+= sent
        count -= sent
        offset += sent
        while first < pieces.count, offset >= pieces[first].count {
            offset -= pieces[first].count
            release(pieces[first])
            pieces[first] = []
            first += 1
        }
        if isEmpty {
            pieces = []
            (first, offset) = (0, 0)
        } else if first > 64 {
            pieces.removeFirst(first)
            first = 0
        }
    }

    /// The most bytes that are copied for one call.
    private static let copied = 64 << 10

    /// Sends as much as one call takes, at most `limit` bytes.
    func send(to descriptor: Int32, atMost limit: Int = .max) -> SystemCall.WriteResult {
        // Small pieces are copied together: a system call costs more than copying them.
        guard first < pieces.count - 1, pieces[first].count - offset < Self.copied else {
            return pieces[first].withUnsafeBytes { bytes in
                SystemCall.send(descriptor, UnsafeRawBufferPointer(rebasing: bytes[offset...].prefix(limit)))
            }
        }
        var buffer: [UInt8] = []
        for index in first..<pieces.count where buffer.count < Self.copied {
            buffer.append(contentsOf: pieces[index][(index == first ? offset : 0)...].prefix(Self.copied - buffer.count))
        }
        return buffer.withUnsafeBytes { SystemCall.send(descriptor, $0) }
    }
}
