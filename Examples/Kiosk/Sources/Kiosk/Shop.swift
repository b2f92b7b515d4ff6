import FreshetClient
import FreshetWire

/// A product of the shop.
struct Product: Codable, Hashable, Sendable {
    var name: String
    /// In cents.
    var price: Int

    /// Merges a product that two kiosks have changed: each member that this kiosk has changed keeps this value, the
    /// others come from the server. A product that the other kiosk has removed stays removed, and this kiosk's change
    /// becomes a rejection.
    static let merge: MergeClosure<Product> = { conflict in
        guard let mine = conflict.mine, let theirs = conflict.theirs else { return .takeTheirs }
        var merged = theirs
        if mine.name != conflict.base?.name { merged.name = mine.name }
        if mine.price != conflict.base?.price { merged.price = mine.price }
        return .value(merged)
    }
}

/// The stock of a product. A separate record, since sales change it at every kiosk at once, always by increments.
struct Stock: Codable, Hashable, Sendable {
    var count: Int
}

/// The records that all kiosks of the shop share, and this kiosk's copy of them.
final class Shop: Sendable {
    let client: SyncClient
    let products: SyncedCollection<Product>
    let stocks: SyncedCollection<Stock>
    /// PNG files by the id of their product; these are mostly above 64 KiB, and reach the other kiosks after the change that announces them.
    let pictures: SyncedCollection<Content>

    /// A shop that does nothing until ``open()``.
    /// - Parameter directory: the folder of the copy and the unsent writes; one process at a time.
    init(url: String, directory: String) throws {
        var configuration = SyncClient.Configuration(url: url, namespace: "shop", storage: .directory(directory))
        configuration.following = .everything  // the copy is complete, so the kiosk works offline
        configuration.longestDelay = .seconds(2)  // back soon after the server is
        client = try SyncClient(configuration)
        products = client.collection("products", merging: Product.merge)
        stocks = client.collection("stocks")
        pictures = client.rawCollection("pictures")
    }

    func open() async throws { try await client.start() }

    /// Creates or changes a product.
    func describe(_ id: String, as product: Product) async throws -> PendingWrite {
        // A merge needs a base: a record that this kiosk knows. A new product has none, so the last writer wins.
        let isNew = try await products.value(forKey: id) == nil
        return try await products.setValue(product, forKey: id, onConflict: isNew ? .lastWriterWins : .merge)
    }

    /// Takes goods out of the stock. The server rejects the write if other kiosks have sold them meanwhile.
    func sell(_ count: Int, of id: String) async throws -> PendingWrite {
        try await stocks.increment("/count", by: -count, of: id, onMissing: .reject, min: 0)
    }

    /// Adds goods to the stock, the first ones too.
    func deliver(_ count: Int, of id: String) async throws -> PendingWrite {
        try await stocks.increment("/count", by: count, of: id, onMissing: .create(Stock(count: 0)))
    }

    /// Stores a product's picture.
    func setPicture(_ bytes: [UInt8], of id: String) async throws -> PendingWrite {
        try await pictures.setValue(Content(bytes: bytes, type: "image/png"), forKey: id)
    }

    /// Removes everything from this kiosk: the copy, unsent writes and rejections. The shop cannot be used after it.
    func logOut() async throws {
        try await client.clear(andStop: true)
    }
}
