package import HTTPTypes

extension HTTPField.Name {
    /// `Freshet-Cursor`: the position of the state that a response reflects.
    package static let freshetCursor = Self.known("Freshet-Cursor")
    /// `Freshet-Client`: the device that a single write comes from.
    package static let freshetClient = Self.known("Freshet-Client")
    /// `Freshet-Write`: the number that the device gave a single write.
    package static let freshetWrite = Self.known("Freshet-Write")
    /// `Freshet-Last-Write`: the number of the client's last write that was decided in the state that a response reflects.
    package static let freshetLastWrite = Self.known("Freshet-Last-Write")
    /// `Freshet-Store`: which store a response is from, whatever its address.
    package static let freshetStore = Self.known("Freshet-Store")
    /// `Last-Event-ID`: where a stream of server-sent events resumes (WHATWG HTML §9.2).
    package static let lastEventID = Self.known("Last-Event-ID")

    private static func known(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is a valid field name") }
        return name
    }
}
