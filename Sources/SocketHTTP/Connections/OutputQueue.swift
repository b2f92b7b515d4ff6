import Glibc

/// Bytes that a peer has not accepted yet, oldest first. Shared bytes stay shared.
struct OutputQueue {
    private var pieces: [[UInt8]] = []
    /// Encrypted bytes, which come before all pieces; on an encrypted connection these alone are sent.
    private var sealed: [UInt8] = []
    /// Bytes of `sealed` that are sent.
    private var sealedOffset = 0
    /// Pieces before this one are sent.
    private var first = 0
    /// Bytes of the first piece that are sent, or encrypted.
    private var offset = 0
    /// Bytes that are not sent.
    private(set) var count = 0
    /// Bytes that were sent from here.
    private(set) var sent = 0

    var isEmpty: Bool { count == 0 }
    /// Bytes that are encrypted and not sent.
    var sealedCount: Int { sealed.count - sealedOffset }

    /// Adds the bytes of `piece` from `start` on. Returns the array that it keeps of them.
    @discardableResult
    mutating func append(_ piece: [UInt8], from start: Int = 0) -> [UInt8] {
        guard start < piece.count else { return [] }
        if count == sealedCount {
            pieces = [piece]
            (first, offset) = (0, start)
            count += piece.count - start
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
        if !sealed.isEmpty { body(sealed) }
    }

    /// Removes the first `sent` bytes; calls `release` with each array that was kept for them.
    mutating func consume(_ sent: Int, release: ([UInt8]) -> Void = { _ in }) {
        self.sent &+= sent
        guard sealed.isEmpty else {
            sealedOffset += sent
            count -= sent
            guard sealedCount == 0 else { return }
            release(sealed)
            (sealed, sealedOffset) = ([], 0)
            return
        }
        remove(sent, release)
    }

    /// Removes the first bytes that are not encrypted.
    private mutating func remove(_ removed: Int, _ release: ([UInt8]) -> Void) {
        count -= removed
        offset += removed
        while first < pieces.count, offset >= pieces[first].count {
            offset -= pieces[first].count
            release(pieces[first])
            pieces[first] = []
            first += 1
        }
        if count == sealedCount {
            pieces = []
            (first, offset) = (0, 0)
        } else if first > 64 {
            pieces.removeFirst(first)
            first = 0
        }
    }

    /// Adds encrypted bytes behind those that are there, and before all others. Calls `replace` with the array that it
    /// now keeps of them, and the one that it kept before, if any.
    mutating func append(sealed bytes: [UInt8], replace: (_ kept: [UInt8], _ before: [UInt8]?) -> Void) {
        let before = sealed
        sealed = before.isEmpty ? bytes : Array(before[sealedOffset...]) + bytes
        count += bytes.count
        sealedOffset = 0
        replace(sealed, before.isEmpty ? nil : before)
    }

    /// Removes the first bytes that are not encrypted, at most `limit` of them, and passes them to `encrypt` piece by
    /// piece, until that returns false; `release` is called with each array that was kept for them.
    mutating func encrypt(atMost limit: Int, release: ([UInt8]) -> Void, _ encrypt: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        var left = min(limit, count - sealedCount)
        while left > 0 {
            let taken = min(left, pieces[first].count - offset)
            guard pieces[first].withUnsafeBytes({ encrypt(UnsafeRawBufferPointer(rebasing: $0[offset..<offset + taken])) }) else {
                return false
            }
            left -= taken
            remove(taken, release)
        }
        return true
    }

    /// The most bytes that are copied for one call.
    private static let copied = 64 << 10

    /// Sends as much as one call takes, at most `limit` bytes.
    func send(to descriptor: Int32, atMost limit: Int = .max) -> SystemCall.WriteResult {
        guard sealed.isEmpty else {
            return sealed.withUnsafeBytes {
                SystemCall.send(descriptor, UnsafeRawBufferPointer(rebasing: $0[sealedOffset...].prefix(limit)))
            }
        }
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
