import FreshetWire

/// Messages as the SDK decodes them: a decoded message is unchanged after it is encoded and decoded again.
enum Messages {
    static func readCursor(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        if let cursor = try? Cursor(text) {
            require(Array(cursor.description.utf8) == Array(text.utf8), "a cursor that is written otherwise than it was read")
        }
        if let cursor = Cursor(entityTag: text) {
            require(Array(cursor.entityTag.utf8) == Array(text.utf8), "an entity tag that is written otherwise than it was read")
        }
        if let since = try? Since(text) { require(since.description == text, "a position that is written otherwise than it was read") }
        if let key = try? RecordKey(text) {
            require(Array(key.description.utf8) == Array(text.utf8), "a key that is written otherwise than it was read")
        }
    }

    static func readProblem(_ input: [UInt8]) {
        guard let problem = try? Problem(json: input) else { return }
        require((try? Problem(json: problem.json)) == problem, "a problem that is read as another one once it was written")
    }

    static func readChanges(_ input: [UInt8]) {
        guard let page = try? ChangePage(json: input) else { return }
        require((try? ChangePage(json: page.json))?.json == page.json, "a page that is read as another one once it was written")
    }
}
