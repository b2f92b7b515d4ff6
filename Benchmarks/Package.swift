// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that what the measurements need is nobody else's dependency.
let package = Package(
    name: "freshet-benchmarks",
    dependencies: [
        .package(name: "freshet", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .systemLibrary(name: "CEpoll"),
        .executableTarget(
            name: "FreshetBench",
            dependencies: [
                "CEpoll",
                .product(name: "FreshetClient", package: "freshet"),
                .product(name: "FreshetTestKit", package: "freshet"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        ),
    ]
)
