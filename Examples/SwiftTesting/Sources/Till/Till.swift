public import FreshetClient

/// What a shop has of an article.
public struct Article: Codable, Hashable, Sendable {
    /// How many there are.
    public var stock: Int
    /// In cents.
    public var price: Int

    /// An article.
    public init(stock: Int, price: Int) {
        self.stock = stock
        self.price = price
    }
}

/// The code under test: a till sells also while it has no network.
public struct Till: Sendable {
    private let articles: SyncedCollection<Article>

    /// A till that keeps its articles by this client.
    public init(_ client: SyncClient) { articles = client.collection("articles") }

    /// Takes one from the stock, at once here, and on the server as soon as it can be reached.
    public func sell(_ name: String) async throws { try await articles.increment("/stock", by: -1, of: name) }

    /// Sets a price, unless somebody else has changed the article meanwhile.
    public func setPrice(_ price: Int, of name: String) async throws -> PendingWrite {
        try await articles.merge(["price": price], into: name, onConflict: .rejectIfChanged)
    }

    /// How many there are, as far as this till knows.
    public func stock(of name: String) -> Int? { articles[name]?.value?.stock }
}
