internal import FreshetWire

extension Timeline {
    /// The timeline as JSON: members and words as the types name them. `violation`, and a message's `cursor`, `outcome` and `isIdle`, are
    /// only there where they say something. O(n) in the number of events.
    public var json: [UInt8] {
        var writer = JSONWriter(capacity: 4_096 + 128 * (messages.count + writes.count + holdings.count))
        writer.beginObject()
        writer.member("title", title)
        writer.member("command", command)
        writer.member("scenario", scenario)
        writer.member("end", end)
        writer.list("lanes", lanes) { $0.write(to: &$1) }
        writer.list("messages", messages) { $0.write(to: &$1) }
        writer.list("writes", writes) { $0.write(to: &$1) }
        writer.list("faults", faults) { $0.write(to: &$1) }
        writer.list("marks", marks) { $0.write(to: &$1) }
        writer.list("holdings", holdings) { $0.write(to: &$1) }
        if let violation {
            writer.member("violation")
            violation.write(to: &writer)
        }
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    /// A member that is an array of objects; the closure writes the members of one.
    fileprivate mutating func list<Element>(_ name: StaticString, _ elements: [Element], _ write: (Element, inout JSONWriter) -> Void) {
        member(name)
        beginArray()
        for element in elements { write(element, &self) }
        endArray()
    }
}

extension Timeline.Lane {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", name)
        writer.member("detail", detail)
        writer.endObject()
    }
}

extension Timeline.Message {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("from", Int64(from))
        writer.member("to", Int64(to))
        writer.member("sent", sent)
        writer.member("ended", ended)
        writer.member("delivery", delivery.rawValue)
        writer.member("label", label)
        if !cursor.isEmpty { writer.member("cursor", cursor) }
        if !outcome.isEmpty { writer.member("outcome", outcome) }
        if isIdle { writer.member("isIdle", true) }
        writer.endObject()
    }
}

extension Timeline.Write {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("lane", Int64(lane))
        writer.member("key", key)
        writer.member("label", label)
        writer.list("steps", steps) { step, writer in
            writer.beginObject()
            writer.member("time", step.time)
            writer.member("stage", step.stage.rawValue)
            writer.endObject()
        }
        writer.endObject()
    }
}

extension Timeline.Fault {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("lanes")
        writer.beginArray()
        for lane in lanes { writer.integer(Int64(lane)) }
        writer.endArray()
        writer.member("from", from)
        writer.member("to", to)
        writer.member("label", label)
        writer.endObject()
    }
}

extension Timeline.Mark {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("lane", Int64(lane))
        writer.member("time", time)
        writer.member("label", label)
        writer.endObject()
    }
}

extension Timeline.Holding {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("lane", Int64(lane))
        writer.member("time", time)
        writer.member("key", key)
        if let value { writer.member("value", value) }
        writer.member("detail", detail)
        writer.endObject()
    }
}

extension Timeline.Violation {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("lane", Int64(lane))
        writer.member("time", time)
        writer.member("rule", rule)
        writer.member("text", text)
        writer.endObject()
    }
}
