import FreshetTrust
import FreshetWire

extension ServerCore {
    /// `GET /admin/denials`: the latest refusals, grouped.
    @Sendable func listDenials(_ context: RequestContext) throws {
        _ = try requireAccess()
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("denials")
        writer.beginArray()
        for entry in audit.denials {
            var record = entry.record
            record.count = entry.count
            record.write(to: &writer, last: entry.last)
        }
        writer.endArray()
        writer.endObject()
        context.respond(json: writer.bytes, at: nil)
    }
}
