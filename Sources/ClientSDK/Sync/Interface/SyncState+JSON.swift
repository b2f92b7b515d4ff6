package import FreshetWire

extension SyncState: WireMessage {
    /// `{"client":…,"nextNumber":…,"nextReceipt":…,"epoch"?:…,"cursor"?:…,"completeAt"?:…,"lostCursor"?:…,"pass":…,"verification":…,"mustReconcile":…,
    /// "whole"?:…,"floor"?:…,"droppedRejections"?:…,"store"?:…,"renamesAfter"?:…,"principal"?:…}`
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("client", client.text)
        writer.member("nextNumber", nextNumber)
        writer.member("nextReceipt", nextWriteID)
        if let epoch { writer.member("epoch", epoch.token) }
        if let cursor { writer.member("cursor", cursor.description) }
        if let completeAt { writer.member("completeAt", completeAt.milliseconds) }
        if let lostCursor { writer.member("lostCursor", lostCursor.description) }
        writer.member("pass", pass)
        writer.member("verification", revalidation.rawValue)
        writer.member("scope", scope)
        if let whole { writer.member("whole", whole.text) }
        if let floor { writer.member("floor", floor.description) }
        writer.member("mustReconcile", mustReconcile)
        if droppedRejections > 0 { writer.member("droppedRejections", droppedRejections) }
        if let store { writer.member("store", store.token) }
        if let renamesAfter { writer.member("renamesAfter", renamesAfter) }
        if let principal { writer.member("principal", principal) }
        writer.endObject()
    }

    /// Reads what ``write(to:)`` writes.
    package init(_ reader: inout JSONReader) throws(WireError) {
        var client: ClientIdentifier?
        var lostCursor: Cursor?
        var whole: ChangeFilter??
        var changes: [StateChange] = []
        try reader.beginObject()
        while let name = try reader.nextMember() {
            switch name {
            case "client": client = try ClientIdentifier(try reader.string())
            case "nextNumber": changes.append(.nextNumber(try reader.counter(from: 1)))
            case "nextReceipt": changes.append(.nextWriteID(try reader.counter(from: 1)))
            case "epoch": changes.append(.epoch(Epoch(try reader.string())))
            case "cursor": changes.append(.cursor(try Cursor(try reader.string())))
            case "completeAt": changes.append(.completeAt(Timestamp(milliseconds: try reader.integer())))
            case "lostCursor": lostCursor = try Cursor(try reader.string())
            case "pass": changes.append(.pass(try reader.counter(from: 1)))
            case "verification": changes.append(.revalidation(RevalidationPhase(rawValue: try reader.integer()) ?? .complete))
            case "scope": changes.append(.scope(try reader.string()))
            case "whole": whole = .some(ChangeFilter(text: try reader.string()))
            case "floor": changes.append(.floor(try Cursor(try reader.string())))
            case "droppedRejections": changes.append(.droppedRejections(try reader.counter(from: 0)))
            case "mustReconcile": changes.append(.mustReconcile(try reader.boolean()))
            case "renamesAfter": changes.append(.renamesAfter(try reader.integer()))
            case "principal": changes.append(.principal(try reader.string()))
            case "store":
                let token = try reader.string()
                guard let store = StoreIdentifier(token) else { throw .unexpectedJSON("'\(token)' names no store") }
                changes.append(.store(store))
            default: try reader.skip()
            }
        }
        guard let client else { throw .unexpectedJSON("a device's state takes 'client'") }
        self.init(client: client)
        for change in changes { apply(change) }
        self.lostCursor = lostCursor
        // An earlier version stores only whether the copy is complete now.
        self.whole = whole ?? (completeAt != nil && revalidation == .complete ? SyncSettings.copiedFilter(in: scope) : nil)
    }
}

extension JSONReader {
    /// Reads a number that the device counts, of at most 2^53. Another one is damage: calculations with it could overflow.
    mutating func counter(from lowest: Int64) throws(WireError) -> Int64 { try integer(in: lowest...(1 << 53)) }

    mutating func integer(in range: ClosedRange<Int64>) throws(WireError) -> Int64 {
        let value = try integer()
        guard range.contains(value) else { throw .unexpectedJSON("\(value) is no number from \(range.lowerBound) to \(range.upperBound)") }
        return value
    }
}
