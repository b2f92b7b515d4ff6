// swift-tools-version: 6.2
import PackageDescription

// The peers that Freshet is compared with, in a separate package: only the benchmarks resolve and build it.
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
