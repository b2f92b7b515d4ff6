import Glibc

/// Heads that have come before, so that one which comes again, byte for byte, is neither parsed nor routed again.
///
/// Clients that wait for the same thing ask in the same bytes: of a thousand polls that follow one change nearly all are found
/// here. A head ends with its blank line, so nothing behind it can change what it means.
struct RecentHeads {
    /// What is known of a head.
    struct Entry: Sendable {
        let bytes: [UInt8]
        let isSafe: Bool
        let traits: Ticket.Traits
        let handler: any RepeatHandler
        /// The crowd of those who came with it last.
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

    /// The newest first: it is the one that comes again most. Looked at in place, since a copy of an entry is two more owners.
    private(set) var entries: [Entry] = []

    /// The place of the entry whose head stands at the start of `input`.
    func find(atStartOf input: UnsafeRawBufferPointer) -> Int? {
        entries.firstIndex { RecentHeads.begins(input, with: $0.bytes) }
    }

    mutating func gather(_ place: Int, in crowd: CrowdTable.Number) { entries[place].crowd = crowd }

    /// Keeps a head and the handler that was named for it, in the place of the oldest.
    ///
    /// Only requests without a body are kept: then the head is all of the request.
    mutating func keep(_ head: RequestHead, _ handler: any RepeatHandler) {
        guard head.body == .none, head.bytes.count <= RecentHeads.longestHead else { return }
        // One that a connection with a seat sent again.
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
    /// What the answer to it has to respect.
    var traits: Ticket.Traits {
        var traits: Ticket.Traits = []
        if line.method == .head { traits.insert(.headOnly) }
        if line.isHTTP10 { traits.insert(.isHTTP10) }
        if !keepsAlive { traits.insert(.closes) }
        return traits
    }
}
