// swift-tools-version: 6.2
import PackageDescription

// What Freshet is measured beside, in a package of its own: nobody else resolves or builds it.
let package = Package(
    name: "freshet-peers",
    dependencies: [.package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1")],
    targets: [
        .executableTarget(
            name: "HummingbirdConstant",
            dependencies: [.product(name: "Hummingbird", package: "hummingbird")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        )
    ]
)
