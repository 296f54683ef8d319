for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const number = (row, i) => parseFloat(row.cells[i].textContent.replace("\u2212", "-").replace(/[<,]/g, ""));
  heads.forEach((head, i) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows];
      const text = head.classList.contains("text");
      rows.sort((a, b) => {
        if (text) return a.cells[i].textContent.localeCompare(b.cells[i].textContent) * (down ? -1 : 1);
        const x = number(a, i), y = number(b, i);
        if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y);
        return down ? y - x : x - y;
      });
      table.tBodies[0].append(...rows);
    });
  });
}
