"use strict";
// The pages read without this; with it a tree is searched, folded and opened in place. It asks nobody but the server
// that the page came from, and in a report nobody at all.
(() => {
  const tree = [...document.querySelectorAll(".tree")];
  const rows = tree.flatMap((one) => [...one.children]);
  const depth = (row) => Number(/(?:^| )d(\d+)/.exec(row.className)[1]);
  const find = document.getElementById("find");
  const only = { over: document.getElementById("only-over"), chg: document.getElementById("only-chg") };

  function narrow() {
    const wanted = find.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const marks = Object.keys(only).filter((name) => only[name] && only[name].checked);
    const hidden = new Map(); // decided first: who is hidden for a moment loses the focus
    let count = 0;
    const above = [];
    for (const row of rows) {
      const at = depth(row);
      while (above.length && depth(above[above.length - 1]) >= at) above.pop();
      if (row.classList.contains("branch")) {
        hidden.set(row, true);
        above.push(row);
        continue;
      }
      const head = row.tagName === "DETAILS" ? row.firstElementChild : row;
      const text = (row.dataset.p + " " + head.textContent).toLowerCase();
      const fits = wanted.every((word) => text.includes(word)) && marks.every((name) => row.classList.contains(name));
      hidden.set(row, !fits);
      if (fits) {
        count += 1;
        for (const one of above) hidden.set(one, false);
      }
    }
    let shut = Infinity;
    for (const row of rows) {
      const at = depth(row);
      if (at <= shut) shut = Infinity;
      const is = hidden.get(row) || at > shut;
      if (row.hidden !== is) row.hidden = is;
      if (row.classList.contains("shut")) shut = Math.min(shut, at);
    }
    document.getElementById("count").textContent = count === 1 ? "1 attribute" : count + " attributes";
  }

  function fold(row, shut) {
    if (row.classList.contains("shut") === shut) return;
    row.classList.toggle("shut", shut);
    row.setAttribute("aria-expanded", String(!shut));
    narrow();
  }

  async function load(leaf) {
    const link = leaf.querySelector("a.more");
    if (!leaf.open || !link || leaf.dataset.asked) return;
    leaf.dataset.asked = "yes";
    try {
      const answer = await fetch(link.href + "&part=1", { credentials: "same-origin" });
      if (!answer.ok) throw new Error(String(answer.status));
      const part = new DOMParser().parseFromString(await answer.text(), "text/html").body;
      while (leaf.children.length > 1) leaf.lastElementChild.remove(); // the head stays where it is, and the focus in it
      leaf.append(...part.childNodes);
    } catch (error) {
      delete leaf.dataset.asked;
    }
  }

  function focusable(row) { return row.tagName === "DETAILS" ? row.firstElementChild : row; }

  function moved(event) {
    const here = document.activeElement && document.activeElement.closest(".leaf, .branch");
    if (!here || !rows.includes(here)) return;
    const shown = rows.filter((row) => !row.hidden);
    const at = shown.indexOf(here);
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (step) {
      const next = shown[at + step];
      if (next) focusable(next).focus();
    } else if (event.key === "ArrowLeft") {
      if (here.open) here.open = false;
      else if (here.classList.contains("branch") && !here.classList.contains("shut")) fold(here, true);
      else {
        const above = shown.slice(0, at).reverse().find((row) => depth(row) < depth(here));
        if (above) focusable(above).focus();
      }
    } else if (event.key === "ArrowRight") {
      if (here.classList.contains("branch")) fold(here, false);
      else if (here.tagName === "DETAILS") here.open = true;
    } else if (event.key === "Enter" && here.classList.contains("branch")) {
      fold(here, !here.classList.contains("shut"));
    } else return;
    event.preventDefault();
  }

  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = document.querySelector("#find, input[name=q]");
    if (event.key === "/" && !typing && field) {
      field.focus();
      field.select();
      event.preventDefault();
    } else if (typing && event.target === find && event.key === "ArrowDown") {
      const first = rows.find((row) => !row.hidden);
      if (first) focusable(first).focus();
      event.preventDefault();
    } else if (typing && event.key === "Escape") event.target.blur();
    else if (!typing) moved(event);
  });

  // A field that knows what there is: fields of the search language, and paths.
  let known = null;
  async function offered(field) {
    if (!known) {
      const answer = await fetch("/api/list?kind=fields", { credentials: "same-origin" });
      known = answer.ok ? (await answer.json()).names : [];
    }
    const word = /[^\s()]*$/.exec(field.value.slice(0, field.selectionStart))[0].replace(/^-/, "");
    if (!word) return [[], word];
    const inside = known.filter((name) => name !== word && name.includes(word));
    return [inside.sort((a, b) => b.startsWith(word) - a.startsWith(word)).slice(0, 12), word];
  }

  for (const field of document.querySelectorAll("input[data-complete]:not([data-complete=''])")) {
    const list = document.createElement("ul");
    list.className = "offer";
    list.hidden = true;
    list.setAttribute("role", "listbox");
    field.parentElement.append(list);
    let chosen = -1;
    const take = (item) => {
      const end = field.selectionStart;
      field.setRangeText(item.textContent, end - item.dataset.word.length, end, "end");
      list.hidden = true;
      field.focus();
    };
    const mark = (at) => {
      const items = [...list.children];
      chosen = items.length ? (at + items.length) % items.length : -1;
      items.forEach((item, index) => item.setAttribute("aria-selected", String(index === chosen)));
    };
    field.addEventListener("input", async () => {
      const [names, word] = await offered(field);
      list.replaceChildren(...names.map((name) => {
        const item = document.createElement("li");
        item.textContent = name;
        item.dataset.word = word;
        item.setAttribute("role", "option");
        item.addEventListener("mousedown", (event) => { event.preventDefault(); take(item); });
        return item;
      }));
      list.hidden = !names.length;
      chosen = -1;
    });
    field.addEventListener("keydown", (event) => {
      if (list.hidden) return;
      if (event.key === "ArrowDown") mark(chosen + 1);
      else if (event.key === "ArrowUp") mark(chosen < 0 ? -1 : chosen - 1);
      else if (event.key === "Escape") list.hidden = true;
      else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) take(list.children[chosen]);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    field.addEventListener("blur", () => { list.hidden = true; });
  }

  // A drawing: what is related to the resource under the pointer stays, the rest steps back.
  for (const graph of document.querySelectorAll(".graph")) {
    const near = (name) => {
      graph.classList.toggle("asked", Boolean(name));
      const others = new Set([name]);
      for (const line of graph.querySelectorAll(".line")) {
        const is = Boolean(name) && (line.dataset.a === name || line.dataset.b === name);
        line.classList.toggle("near", is);
        if (is) others.add(line.dataset.a).add(line.dataset.b);
      }
      for (const box of graph.querySelectorAll(".box")) box.classList.toggle("near", Boolean(name) && others.has(box.dataset.r));
    };
    for (const box of graph.querySelectorAll(".box")) {
      for (const event of ["mouseenter", "focus"]) box.addEventListener(event, () => near(box.dataset.r));
      for (const event of ["mouseleave", "blur"]) box.addEventListener(event, () => near(""));
    }
  }

  if (find) {
    document.querySelector(".tools").hidden = false;
    find.addEventListener("input", () => { // what is looked for may lie in a map that is folded
      for (const row of rows) row.classList.remove("shut");
      narrow();
    });
    for (const box of Object.values(only)) if (box) box.addEventListener("change", narrow);
    for (const one of tree) {
      one.addEventListener("click", (event) => {
        const branch = event.target.closest(".branch");
        if (branch) fold(branch, !branch.classList.contains("shut"));
      });
      one.addEventListener("toggle", (event) => load(event.target), true);
    }
    narrow();
    const show = () => {
      const named = decodeURIComponent(location.hash.slice(1));
      const leaf = named && rows.find((row) => row.dataset.p === named);
      if (!leaf) return;
      if (leaf.hidden) {
        find.value = "";
        for (const box of Object.values(only)) if (box) box.checked = false;
        for (const row of rows) row.classList.remove("shut");
        narrow();
      }
      leaf.open = true;
      leaf.scrollIntoView({ block: "center" });
    };
    addEventListener("hashchange", show);
    show();
  }
})();
