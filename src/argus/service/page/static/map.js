"use strict";
// The map: WebGL points, or a plain canvas where there is none. It asks the server what lies where.
document.addEventListener("DOMContentLoaded", () => {
  const canvas = document.getElementById("map");
  if (!canvas) return;
  const named = document.getElementById("point"), listed = document.getElementById("box");
  const COLOURS = [[200, 68, 42], [217, 161, 27], [64, 132, 196], [138, 148, 163]];
  const NAMES = ["low", "mid", "high"];
  const SLOW_MS = 30, PAUSE_MS = 400, FEWEST = 10000;
  const shown = [true, true, true, true];
  let xs = new Float32Array(), ys = xs, bands = new Uint8Array();
  let home = { x: 0, y: 0, scale: 1 }, view = { ...home }, pick = null, waiting = 0, drawing = false;

  const gl = canvas.getContext("webgl", { antialias: false });
  const plain = gl ? null : canvas.getContext("2d");
  canvas.dataset.drawnBy = gl ? "webgl" : "2d";

  const SHADERS = [`
    attribute vec2 at; attribute float band;
    uniform vec2 middle; uniform vec2 stretch; uniform float size; uniform vec4 mask;
    varying float kind;
    void main() {
      float on = band < 0.5 ? mask.x : band < 1.5 ? mask.y : band < 2.5 ? mask.z : mask.w;
      kind = band;
      gl_PointSize = size;
      gl_Position = on > 0.5 ? vec4((at - middle) * stretch, 0.0, 1.0) : vec4(9.0);
    }`, `
    precision mediump float;
    varying float kind;
    void main() {
      float far = length(gl_PointCoord - 0.5);
      if (far > 0.5) discard;
      vec3 low = vec3(0.784, 0.267, 0.165), mid = vec3(0.851, 0.631, 0.106);
      vec3 high = vec3(0.251, 0.518, 0.769), none = vec3(0.541, 0.58, 0.639);
      vec3 ink = kind < 0.5 ? low : kind < 1.5 ? mid : kind < 2.5 ? high : none;
      gl_FragColor = vec4(ink, 1.0) * 0.72;
    }`];
  let program = null;

  function prepare() {
    if (!gl) return;
    program = gl.createProgram();
    SHADERS.forEach((source, i) => {
      const shader = gl.createShader(i ? gl.FRAGMENT_SHADER : gl.VERTEX_SHADER);
      gl.shaderSource(shader, source); gl.compileShader(shader); gl.attachShader(program, shader);
    });
    gl.linkProgram(program); gl.useProgram(program);
    const points = new Float32Array(xs.length * 3);
    for (let i = 0; i < xs.length; i++) points.set([xs[i], ys[i], bands[i]], 3 * i);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, points, gl.STATIC_DRAW);
    const at = gl.getAttribLocation(program, "at"), band = gl.getAttribLocation(program, "band");
    gl.enableVertexAttribArray(at); gl.vertexAttribPointer(at, 2, gl.FLOAT, false, 12, 0);
    gl.enableVertexAttribArray(band); gl.vertexAttribPointer(band, 1, gl.FLOAT, false, 12, 8);
    gl.enable(gl.BLEND); gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  const zoom = () => view.scale / home.scale;
  const size = () => Math.min(14, (xs.length > 20000 ? 2.5 : 4) * Math.sqrt(zoom()) * devicePixelRatio);

  // While it moves, so many points are drawn as keep the frames smooth; when it rests, all of them.
  let moving = false, before = 0, most = Infinity;
  function enough(now) {
    const gap = now - before;
    before = now;
    if (moving && gap > SLOW_MS && gap < PAUSE_MS) most = Math.max(FEWEST, Math.min(most, xs.length) / 2);
    return moving ? Math.min(xs.length, most) : xs.length;
  }

  function paint(now) {
    drawing = false;
    const begun = performance.now(), count = Math.floor(enough(now));
    const width = canvas.width, height = canvas.height;
    if (gl) {
      gl.viewport(0, 0, width, height); gl.clearColor(0, 0, 0, 0); gl.clear(gl.COLOR_BUFFER_BIT);
      const place = (name) => gl.getUniformLocation(program, name);
      gl.uniform2f(place("middle"), view.x, view.y);
      gl.uniform2f(place("stretch"), 2 * view.scale / width, 2 * view.scale / height);
      gl.uniform1f(place("size"), size());
      gl.uniform4fv(place("mask"), shown.map(Number));
      gl.drawArrays(gl.POINTS, 0, count);
      gl.finish();
    } else {
      plain.clearRect(0, 0, width, height);
      const r = size();
      for (let band = 0; band < 4; band++) {
        if (!shown[band]) continue;
        plain.fillStyle = `rgb(${COLOURS[band].join(" ")} / .72)`;
        for (let i = 0; i < count; i++) {
          if (bands[i] !== band) continue;
          const x = width / 2 + (xs[i] - view.x) * view.scale, y = height / 2 - (ys[i] - view.y) * view.scale;
          if (x >= 0 && y >= 0 && x <= width && y <= height) plain.fillRect(x - r / 2, y - r / 2, r, r);
        }
      }
    }
    canvas.dataset.drawn = count;
    canvas.dataset.paintMs = (performance.now() - begun).toFixed(1);
    if (pick) place();
  }
  function draw() { if (!drawing) { drawing = true; requestAnimationFrame(paint); } }

  function place() {  // where the named point lies now; a style is set by script, which CSP allows
    const x = canvas.width / 2 + (pick.x - view.x) * view.scale, y = canvas.height / 2 - (pick.y - view.y) * view.scale;
    named.style.left = `${x / devicePixelRatio}px`;
    named.style.top = `${y / devicePixelRatio}px`;
  }

  function changed() {
    moving = true;
    draw();
    clearTimeout(waiting);
    waiting = setTimeout(() => { moving = false; draw(); list(); }, 180);
  }
  async function list() {
    const x = canvas.width / 2 / view.scale, y = canvas.height / 2 / view.scale;
    const asked = new URLSearchParams({
      x0: view.x - x, x1: view.x + x, y0: view.y - y, y1: view.y + y,
      bands: NAMES.filter((_, i) => shown[i]).join(","),
    });
    const answer = await fetch(`${canvas.dataset.box}?${asked}`, { headers: { "HX-Request": "true" } });
    listed.innerHTML = await answer.text();
  }

  function nearest(x, y, reach) {
    let best = -1, least = (reach / view.scale) ** 2;
    for (let i = 0; i < xs.length; i++) {
      if (!shown[bands[i]]) continue;
      const far = (xs[i] - x) ** 2 + (ys[i] - y) ** 2;
      if (far < least) { least = far; best = i; }
    }
    return best;
  }
  async function name(x, y, reach) {
    const i = nearest(x, y, reach);
    if (i < 0) { pick = null; named.hidden = true; return; }
    pick = { x: xs[i], y: ys[i] };
    const asked = new URLSearchParams({ x: xs[i], y: ys[i] });
    const answer = await fetch(`${canvas.dataset.nearest}?${asked}`, { headers: { "HX-Request": "true" } });
    named.innerHTML = await answer.text();
    named.hidden = false;
    place();
  }

  function fit() {
    const frame = canvas.getBoundingClientRect();
    canvas.width = Math.round(frame.width * devicePixelRatio);
    canvas.height = Math.round(frame.height * devicePixelRatio);
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < xs.length; i++) {
      x0 = Math.min(x0, xs[i]); x1 = Math.max(x1, xs[i]); y0 = Math.min(y0, ys[i]); y1 = Math.max(y1, ys[i]);
    }
    const scale = 0.94 * Math.min(canvas.width / Math.max(x1 - x0, 1e-9), canvas.height / Math.max(y1 - y0, 1e-9));
    home = { x: (x0 + x1) / 2, y: (y0 + y1) / 2, scale };
  }
  function by(factor, px = canvas.width / 2, py = canvas.height / 2) {
    const x = view.x + (px - canvas.width / 2) / view.scale, y = view.y - (py - canvas.height / 2) / view.scale;
    const scale = Math.min(home.scale * 4000, Math.max(home.scale / 2, view.scale * factor));
    view = { scale, x: x - (px - canvas.width / 2) / scale, y: y + (py - canvas.height / 2) / scale };
    changed();
  }
  function move(dx, dy) { view.x -= dx / view.scale; view.y += dy / view.scale; changed(); }
  const pixel = (event) => {
    const frame = canvas.getBoundingClientRect();
    return [(event.clientX - frame.left) * devicePixelRatio, (event.clientY - frame.top) * devicePixelRatio];
  };

  let held = null, moved = 0;
  canvas.addEventListener("pointerdown", (event) => { held = pixel(event); moved = 0; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [x, y] = pixel(event);
    moved += Math.abs(x - held[0]) + Math.abs(y - held[1]);
    move(x - held[0], y - held[1]); held = [x, y];
  });
  canvas.addEventListener("pointerup", (event) => {
    held = null;
    if (moved > 4 * devicePixelRatio) return;
    const [px, py] = pixel(event);
    name(view.x + (px - canvas.width / 2) / view.scale, view.y - (py - canvas.height / 2) / view.scale, 14 * devicePixelRatio);
  });
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); by(Math.exp(-event.deltaY / 400), ...pixel(event)); }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = 60 * devicePixelRatio;
    const doing = {
      ArrowLeft: () => move(step, 0), ArrowRight: () => move(-step, 0), ArrowUp: () => move(0, step), ArrowDown: () => move(0, -step),
      "+": () => by(1.4), "=": () => by(1.4), "-": () => by(1 / 1.4), Enter: () => name(view.x, view.y, 1e9),
      Escape: () => { pick = null; named.hidden = true; },
    }[event.key];
    if (doing) { event.preventDefault(); doing(); }
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-band], [data-zoom]");
    if (!button) return;
    if (button.dataset.band) {
      const i = NAMES.indexOf(button.dataset.band);
      shown[i] = !shown[i];
      button.setAttribute("aria-pressed", shown[i]);
    }
    if (button.dataset.zoom === "in") by(1.6);
    if (button.dataset.zoom === "out") by(1 / 1.6);
    if (button.dataset.zoom === "all") view = { ...home };
    changed();
  });
  new ResizeObserver(() => { if (xs.length) { fit(); view = { ...home }; changed(); } }).observe(canvas);

  (async () => {
    const answer = await fetch(canvas.dataset.points);
    const bytes = await answer.arrayBuffer();
    const n = new DataView(bytes).getUint32(0, true);
    xs = new Float32Array(bytes, 4, n); ys = new Float32Array(bytes, 4 + 4 * n, n); bands = new Uint8Array(bytes, 4 + 8 * n, n);
    fit(); view = { ...home }; prepare(); changed();
    canvas.dataset.count = String(n);
  })();
});
