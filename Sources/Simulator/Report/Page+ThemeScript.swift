extension Page {
    /// Light and dark colours.
    static let themeScript = #"""
        // Light or dark as the reader's system says, until the button is pressed.
        const darkness = matchMedia("(prefers-color-scheme: dark)");
        let theme = null;
        function showTheme() {
          const isDark = theme === null ? darkness.matches : theme === "dark";
          document.documentElement.style.colorScheme = theme ?? "";
          byId("theme").textContent = isDark ? "☀ Light" : "☾ Dark";
          byId("theme").setAttribute("aria-label", isDark ? "Light colours" : "Dark colours");
          return isDark;
        }
        byId("theme").addEventListener("click", () => {
          theme = showTheme() ? "light" : "dark";
          showTheme();
        });
        darkness.addEventListener("change", showTheme);
        """#
}
