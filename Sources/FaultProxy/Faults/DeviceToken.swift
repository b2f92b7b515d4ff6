/// The bearer token by which faults know a device: `<device>.<generation>`, the generation a whole number that a fresh token raises.
package struct DeviceToken: Hashable, Sendable {
    package var device: String
    package var generation: Int64

    package init(device: String, generation: Int64) {
        self.device = device
        self.generation = generation
    }

    /// `nil` for a token of another form.
    package init?(_ text: some StringProtocol) {
        guard let dot = text.lastIndex(of: "."), dot > text.startIndex, let generation = Int64(text[text.index(after: dot)...]),
            generation >= 0
        else { return nil }
        self.init(device: String(text[..<dot]), generation: generation)
    }

    /// The token in the value of an `Authorization` field, if it is of this form.
    init?(authorization field: String) {
        guard field.prefix(7).lowercased() == "bearer " else { return nil }
        self.init(field.dropFirst(7).trimmingPrefix(while: { $0 == " " }))
    }

    /// The token as a request carries it.
    package var text: String { "\(device).\(generation)" }
}
