import FreshetClient
import FreshetTestSupport
import FreshetWire
import Testing

@Suite("Article: data that changes shape", .timeLimit(.minutes(5)))
struct DataThatChangesShapeTests {
    // article begins
    struct Product: Codable, Hashable, Sendable {
        var name: String
        var price: Int
        var origin: String?  // since version 2
    }
    // article ends

    private struct OldProduct: Codable, Hashable, Sendable {
        var name: String
        var price: Int
    }

    private static func writeAsBefore(_ client: SyncClient) async throws {
        // article begins
        // An old program, whose Product has no origin.
        let old = client.collection("products", of: OldProduct.self)
        try await old.merge(["price": 130], into: "apple")  // keeps the origin
        try await old.setValue(OldProduct(name: "Pear", price: 90), forKey: "pear")  // removes an origin
        // article ends
    }

    // article begins
    struct Price: Codable, Hashable, Sendable {
        var version = 2
        var cents: Int

        private enum CodingKeys: String, CodingKey { case version, cents, euros }

        init(cents: Int) { self.cents = cents }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            switch try members.decodeIfPresent(Int.self, forKey: .version) ?? 1 {
            case 1: cents = try members.decode(Int.self, forKey: .euros) * 100
            case 2: cents = try members.decode(Int.self, forKey: .cents)
            case let newer:
                throw DecodingError.dataCorruptedError(forKey: .version, in: members, debugDescription: "version \(newer): update the app")
            }
        }

        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: CodingKeys.self)
            try members.encode(version, forKey: .version)
            try members.encode(cents, forKey: .cents)
        }
    }
    // article ends

    private static func list(_ client: SyncClient, show: (String, String) -> Void) async throws {
        // article begins
        for snapshot in try await client.collection("prices", of: Price.self).all() {
            if let error = snapshot.decodingError {
                show(snapshot.id, "\(error)")
            } else if let price = snapshot.value {
                show(snapshot.id, "\(price.cents) cents")
            }
        }
        // article ends
    }

    @Test("old values decode, a patch keeps what the type does not know, and a whole value loses it")
    func members() async throws {
        // Given
        let fixture = try ServerFixture()
        let client = try await fixture.live()
        let products = client.collection("products", of: Product.self)
        try await products.setValue(Product(name: "Apple", price: 120, origin: "Kent"), forKey: "apple")
        try await products.setValue(Product(name: "Pear", price: 80, origin: "Kent"), forKey: "pear")
        // When
        try await Self.writeAsBefore(client)
        try await within { try await client.waitUntilDrained() }
        // Then
        #expect(try await products.value(forKey: "apple", policy: .networkOnly) == Product(name: "Apple", price: 130, origin: "Kent"))
        #expect(try await products.value(forKey: "pear", policy: .networkOnly) == Product(name: "Pear", price: 90, origin: nil))
    }

    @Test("earlier versions are read, and a later one is an error that says so")
    func versions() async throws {
        // Given
        let fixture = try ServerFixture()
        let client = try await fixture.live()
        let raw = client.rawCollection("prices")
        for (id, json) in [("a", #"{"euros":2}"#), ("c", #"{"version":3,"net":1}"#)] {
            try await raw.setValue(try Content(json: Array(json.utf8)), forKey: id)
        }
        try await client.collection("prices").setValue(Price(cents: 250), forKey: "b")
        // When
        var shown: [String: String] = [:]
        try await Self.list(client) { shown[$0] = $1 }
        // Then
        #expect(shown["a"] == "200 cents" && shown["b"] == "250 cents" && shown.count == 3)
        #expect(shown["c"]?.contains("version 3: update the app") == true)
    }
}
