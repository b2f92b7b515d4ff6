/// One line of input.
enum Command: Sendable {
    case list, cart, buy, rejections, status, reconnect, wait, logOut, quit
    case describe(id: String, Product)
    case deliver(id: String, count: Int)
    case add(id: String, count: Int)
    case setPicture(id: String, file: String)
    case savePicture(id: String, file: String)
    case retry(number: Int64), discard(number: Int64)

    static let help = """
        list                     products with their prices and stocks
        product ID CENTS NAME    create or change a product
        deliver ID COUNT         add goods to the stock
        add ID COUNT             put goods into the cart
        cart                     show the cart
        buy                      sell what is in the cart
        picture ID FILE          store a product's picture
        save ID FILE             write a product's picture to a file
        rejections               writes that the server has rejected
        retry NUMBER             write a rejected write again
        discard NUMBER           give a rejected write up
        status                   connection and waiting writes
        reconnect                try the server again at once
        wait                     wait until no write waits
        logout                   remove everything from this kiosk, and end
        quit                     end
        """

    /// Parses a line; `nil` if it is not a command.
    init?(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 3).map(String.init)
        switch (words.first, words.count) {
        case ("list", 1): self = .list
        case ("cart", 1): self = .cart
        case ("buy", 1): self = .buy
        case ("rejections", 1): self = .rejections
        case ("status", 1): self = .status
        case ("reconnect", 1): self = .reconnect
        case ("wait", 1): self = .wait
        case ("logout", 1): self = .logOut
        case ("quit", 1): self = .quit
        case ("product", 4):
            guard let price = Int(words[2]), price >= 0 else { return nil }
            self = .describe(id: words[1], Product(name: words[3], price: price))
        case ("deliver", 3):
            guard let count = Int(words[2]), count > 0 else { return nil }
            self = .deliver(id: words[1], count: count)
        case ("add", 3):
            guard let count = Int(words[2]), count > 0 else { return nil }
            self = .add(id: words[1], count: count)
        case ("picture", 3): self = .setPicture(id: words[1], file: words[2])
        case ("save", 3): self = .savePicture(id: words[1], file: words[2])
        case ("retry", 2):
            guard let number = Int64(words[1]) else { return nil }
            self = .retry(number: number)
        case ("discard", 2):
            guard let number = Int64(words[1]) else { return nil }
            self = .discard(number: number)
        default: return nil
        }
    }
}
