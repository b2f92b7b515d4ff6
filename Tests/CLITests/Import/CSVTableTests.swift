import FreshetWire
import Testing

@testable import freshet

struct CSVTableTests {
    private func records(_ text: String, collection: String? = "c", idField: String? = nil, isText: Bool = false) throws -> [ImportRecord] {
        let input = try ImportText(text).input
        return try CSVTable(input, rules: ImportRules(collection: collection, idField: idField), isText: isText).all()
    }

    @Test func columnsBecomeMembers() throws {
        // Given a table with an id; When it is read
        let records = try records("name,id,price\nPear,p1,2.50\nFig,f/1,3\n")
        // Then the id is the key's, and the others are members in their order
        #expect(records.map(\.key.description) == ["c/p1", "c/f/1"])
        #expect(records.map(\.text) == [#"{"name":"Pear","price":2.50}"#, #"{"name":"Fig","price":3}"#])
        #expect(records.map(\.place.description) == ["line 2", "line 3"])
    }

    @Test func aKeyColumnHoldsWholeKeys() throws {
        #expect(try records("key,id\na/1,7", collection: nil).map(\.key.description) == ["a/1"])
        #expect(try records("key,id\na/1,7", collection: nil).map(\.text) == [#"{"id":7}"#])
        #expect(try records("key,id\na/1,7", collection: "b").map(\.key.description) == ["b/1"])
    }

    @Test func anIdFieldStaysAMember() throws {
        let records = try records("code,id\nNZ,7", idField: "code")
        #expect(records.map(\.key.description) == ["c/NZ"])
        #expect(records.map(\.text) == [#"{"code":"NZ","id":7}"#])
    }

    @Test(arguments: [
        ("0", "0"), ("-1.5e3", "-1.5e3"), ("true", "true"), ("false", "false"), ("null", "null"), ("123456789012345", "123456789012345"),
        // Strings: a leading zero, a plus, too many digits, not finite, other spellings, spaces
        ("007", #""007""#), ("+1", #""+1""#), ("1234567890123456", #""1234567890123456""#), ("1e999", #""1e999""#), ("1.", #""1.""#),
        (".5", #"".5""#), ("True", #""True""#), (" 1", #"" 1""#), ("1 ", #""1 ""#), ("-", #""-""#), ("nullable", #""nullable""#),
        ("Ünïcode", #""Ünïcode""#), ("a\\b", #""a\\b""#),
        // Every field in quotes is a string
        (#""1""#, #""1""#), (#""true""#, #""true""#), (#""""#, #""""#),
    ])
    func aFieldIsANumberAWordOrAText(field: String, json: String) throws {
        #expect(try records("id,x\n1,\(field)").map(\.text) == [#"{"x":\#(json)}"#])
    }

    @Test func anEmptyFieldIsLeftOut() throws {
        #expect(try records("id,x,y\n1,,\n").map(\.text) == ["{}"])
    }

    @Test func withTextNothingIsANumber() throws {
        #expect(try records("id,x,y,z\n1,2,true,\n", isText: true).map(\.text) == [#"{"x":"2","y":"true"}"#])
    }

    @Test func quotedFieldsHoldCommasQuotesAndLineBreaks() throws {
        // Given fields in quotes, in the header too, lines that end with CRLF, and empty lines
        let text = "\u{FEFF}id,\"a,\"\"b\"\r\n\r\n1,\"x,\"\"y\"\"\r\nz\"\r\n\n2,\"\"\"\"\r\n"
        let records = try records(text)
        // Then their values are the text in the quotes, and a row has the line that it begins on
        #expect(records.map(\.text) == [#"{"a,\"b":"x,\"y\"\r\nz"}"#, #"{"a,\"b":"\""}"#])
        #expect(records.map(\.place.number) == [3, 6])
    }

    @Test(arguments: [
        ("", "is empty: its first line names the columns"),
        ("name,price\na,1", "line 1: no column is called 'key' or 'id', only 'name', 'price'"),
        ("id;price\n1;2", "line 1: no column is called 'key' or 'id', only 'id;price': commas stand between columns"),
        ("id,x,x\n", "line 1: two columns are called 'x'"),
        ("id,x\n1,2\n2\n", "line 3 has 1 fields, and the first line names 2 columns"),
        ("id,x\n1,2,3\n", "line 2 has 3 fields, and the first line names 2 columns"),
        ("id,x\n\"a\nb\",2\n1,a\"b\n", "line 4: a quote stands within a field"),
        ("id,x\n1,\"a\"b\n", "line 2: a quoted field goes on after its closing quote"),
        ("id,x\n1,\"a\nb\n", "line 2: the row has a quote that is never closed"),
        ("id,x\n1,a\rb\n", "line 2: a carriage return has no line feed after it"),
        ("id,x\n,a\n", "line 2: the id in 'c/' is empty"),
    ])
    func errorsNameTheLine(text: String, message: String) {
        let failure = #expect(throws: CommandFailure.self) { try records(text) }
        #expect(failure?.status == .data)
        #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
    }

    @Test func aRowHasABoundedNumberOfFields() throws {
        // Given a header with as many columns as a row may have, and a row
        let names = (1...CSVRows.fieldLimit).map { $0 == 1 ? "id" : "c\($0)" }.joined(separator: ",")
        let commas = String(repeating: ",", count: CSVRows.fieldLimit - 1)
        #expect(try records("\(names)\n1\(commas)\n").map(\.text) == ["{}"])
        // When a row has one field more, with or without a line feed, or the header has
        for (text, line) in [("\(names)\n1\(commas),\n", 2), ("\(names)\n1\(commas),", 2), ("\(names),\n", 1)] {
            // Then it is refused
            let failure = #expect(throws: CommandFailure.self) { try records(text) }
            #expect(failure == CommandFailure(.data, "line \(line): the row has more than 4,096 fields"))
        }
    }

    @Test func columnsAreComparedByBytes() throws {
        // Given two columns that only look alike
        let found = try records("caf\u{E9},cafe\u{301}\n1,2", idField: "cafe\u{301}")
        // Then the id comes from the one that was named, and both are members
        #expect(found.map(\.key.id) == ["2"])
        #expect(throws: CommandFailure.self) { try records("id,caf\u{E9},caf\u{E9}\n1,2,3") }
    }

    @Test func whatIsNotUTF8IsRefused() throws {
        let file = try ImportText(Array("id,x\n1,".utf8) + [0xE9])
        let failure = #expect(throws: CommandFailure.self) { try CSVTable(file.input, rules: ImportRules(collection: "c")).all() }
        #expect(failure?.message == "line 2 is not UTF-8: save the file as UTF-8")
    }

    @Test func idsAloneNeedACollection() {
        let failure = #expect(throws: CommandFailure.self) { try records("id,x\n1,2", collection: nil) }
        #expect(failure?.status == .usage)
        #expect(failure?.message.contains("--collection") == true)
    }
}
