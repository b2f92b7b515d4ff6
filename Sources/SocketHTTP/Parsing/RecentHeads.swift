import Glibc

/// Recent request heads, so that a head that repeats, byte for byte, is neither parsed nor routed again.
///
/// Clients that wait for the same change send identical requests: of a thousand polls that follow one change nearly all
/// are found here. A head ends with its blank line, so no bytes behind it can change its meaning.
struct RecentHeads {
    /// A known head and how to handle it.
    struct Entry: Sendable {
        let bytes: [UInt8]
        let isSafe: Bool
        let traits: Ticket.Traits
        let handler: any RepeatHandler
        /// The crowd that the latest requests with this head joined.
        var crowd: CrowdTable.Number?

        init(_ head: RequestHead, _ handler: any RepeatHandler) {
            bytes = head.bytes
            isSafe = head.line.method.isSafe
            traits = head.traits
            self.handler = handler
        }
    }

    /// A miss costs a comparison with each, so there are few.
    private static let capacity = 4
    /// Longer heads are not kept.
    private static let longestHead = 2 << 10

    /// The newest first, since it repeats most often. Entries are used in place, since a copy of one retains two more
    /// objects.
    private(set) var entries: [Entry] = []

    /// The index of the entry whose head stands at the start of `input`.
    func find(atStartOf input: UnsafeRawBufferPointer) -> Int? {
        entries.firstIndex { RecentHeads.begins(input, with: $0.bytes) }
    }

    mutating func gather(_ place: Int, in crowd: CrowdTable.Number) { entries[place].crowd = crowd }

    /// Keeps a head and the repeat handler that was set for it; replaces the oldest entry.
    ///
    /// Only requests without a body are kept: their head is the whole request.
    mutating func keep(_ head: RequestHead, _ handler: any RepeatHandler) {
        guard head.body == .none, head.bytes.count <= RecentHeads.longestHead else { return }
        // A connection with a seat has sent a known head again.
        guard !entries.contains(where: { $0.bytes == head.bytes }) else { return }
        if entries.count == RecentHeads.capacity { entries.removeLast() }
        entries.insert(Entry(head, handler), at: 0)
    }

    private static func begins(_ input: UnsafeRawBufferPointer, with head: [UInt8]) -> Bool {
        guard head.count <= input.count, let start = input.baseAddress else { return false }
        return head.withUnsafeBytes { head in head.baseAddress.map { memcmp(start, $0, head.count) == 0 } ?? false }
    }
}

extension RequestHead {
    /// The constraints that the request puts on its answer.
    var traits: Ticket.Traits {
        var traits: Ticket.Traits = []
        if line.method == .head { traits.insert(.headOnly) }
        if line.isHTTP10 { traits.insert(.isHTTP10) }
        if !keepsAlive { traits.insert(.closes) }
        return traits
    }
}
