/// The look of all pages: dark and light as the reader has it, from the width of a phone on.
enum StyleSheet {
    static let text = ground + frame + forms + account

    private static let ground = """
        :root{color-scheme:light dark;--bg:#f3f4f6;--card:#fff;--ink:#15181e;--soft:#565e6b;
        --line:#dde1e7;--field:#fff;--edge:#7b8391;--bad:#a3241c;--bad-bg:#fdeeec;--good:#17603a;
        --good-bg:#e9f6ee;--hover:#eceff3;--accent:#1f3a5f;--on-accent:#fff;--rim:#1f3a5f;--link:#1f3a5f;
        --shadow:0 1px 2px rgb(16 24 40/.06),0 12px 32px rgb(16 24 40/.08)}
        @media (prefers-color-scheme:dark){:root{--bg:#0f1115;--card:#191c22;--ink:#f1f3f6;
        --soft:#a9b0bc;--line:#2d323b;--field:#101318;--edge:#7d8695;--bad:#ffb4ab;
        --bad-bg:#3a1d1a;--good:#9bdcb2;--good-bg:#15301f;--hover:#232830;--accent:#7fa6d6;
        --on-accent:#000;--rim:#7fa6d6;--link:#8fb3e0;--shadow:none}}
        *,*::before,*::after{box-sizing:border-box}
        html{-webkit-text-size-adjust:100%}
        body{margin:0;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;
        background:var(--bg);color:var(--ink);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",
        Roboto,"Noto Sans",sans-serif;overflow-wrap:break-word}
        h1,h2,h3{overflow-wrap:break-word;-webkit-hyphens:auto;hyphens:auto}
        h1{font-size:1.5rem;line-height:1.25;letter-spacing:-.01em;margin:0 0 .5rem}
        h2{font-size:1.125rem;line-height:1.3;margin:0 0 .25rem}
        h3{font-size:1rem;margin:1rem 0 .25rem}
        h1+h2,h1+form,h1+.note,h1+.links{margin-top:1.25rem}
        p{margin:0 0 1rem}
        a{color:var(--link);text-underline-offset:.2em}
        :focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:6px}
        .soft{color:var(--soft)}
        .small{font-size:.875rem}
        @media (min-width:30rem){.nowrap{white-space:nowrap}}
        .break{overflow-wrap:anywhere}
        [hidden]{display:none!important}
        @media (prefers-reduced-motion:no-preference){a,button,input{transition:background-color
        .12s,border-color .12s}}

        """

    private static let frame = """
        .skip{position:absolute;left:-100vw}
        .skip:focus{left:1rem;top:1rem;background:var(--card);padding:.5rem 1rem}
        .top{display:flex;align-items:center;gap:.75rem;justify-content:center;
        padding:max(2rem,8vh) 1rem 1.5rem}
        .brand{display:flex;align-items:center;gap:.75rem;font-weight:600;font-size:1.125rem;
        color:inherit;text-decoration:none;min-width:0;overflow-wrap:anywhere}
        img.client{display:block;max-height:3rem;max-width:100%;margin:0 0 1rem}
        .brand img{max-height:2.5rem;max-width:12rem}
        .mark{display:grid;place-items:center;flex:none;width:2.5rem;height:2.5rem;
        border-radius:.75rem;background:var(--accent);color:var(--on-accent);font-size:1.25rem;
        box-shadow:inset 0 0 0 1px var(--rim)}
        main{width:100%;max-width:27rem;margin:0 auto;padding:0 min(1rem,3vw);flex:1}
        .card{background:var(--card);border:1px solid var(--line);border-radius:1rem;
        padding:1.75rem;box-shadow:var(--shadow)}
        .card>:last-child,.card>form:last-child>:last-child{margin-bottom:0}
        @media (max-width:30rem){.card{padding:min(1.25rem,4vw)}.top{padding-top:1.5rem}}
        .foot{padding:1.5rem 1rem 2rem;text-align:center;color:var(--soft);font-size:.875rem}
        .note{border-radius:.625rem;padding:.75rem 1rem;margin:0 0 1rem;
        border-left:4px solid currentColor}
        .note p:last-child{margin:0;overflow-wrap:anywhere}
        .note.bad{background:var(--bad-bg);color:var(--bad)}
        .note.good{background:var(--good-bg);color:var(--good)}

        """

    private static let forms = """
        form{margin:0}
        .field{margin:0 0 1rem}
        label,.label{display:block;font-weight:600;margin:0 0 .375rem}
        .hint{color:var(--soft);font-size:.875rem;margin:.375rem 0 0}
        form+.hint{margin-top:1rem}
        .wrong{color:var(--bad);font-size:.875rem;font-weight:600;margin:.375rem 0 0}
        input:where(:not([type=checkbox],[type=radio])){width:100%;min-height:3rem;padding:.625rem
        .875rem;font:inherit;color:inherit;background:var(--field);border:1px solid var(--edge);
        border-radius:.625rem}
        input[aria-invalid]{border-color:var(--bad);border-width:2px}
        input.code{font-size:1.5rem;letter-spacing:.3em;text-align:center;
        font-variant-numeric:tabular-nums}
        input:focus-visible{outline-offset:0;border-radius:.625rem}
        button,.button,summary{display:flex;align-items:center;justify-content:center;width:100%;
        min-height:3rem;padding:.625rem min(1.25rem,3vw);font:inherit;font-weight:600;text-align:center;
        border-radius:.625rem;border:1px solid var(--rim);background:var(--accent);
        color:var(--on-accent);cursor:pointer;text-decoration:none;overflow-wrap:anywhere}
        button:hover,.button:hover{filter:brightness(1.08)}
        .second{background:transparent;color:var(--ink);border-color:var(--edge)}
        .second:hover{background:var(--hover);filter:none}
        .danger{background:transparent;color:var(--bad);border-color:var(--bad)}
        .danger:hover{background:var(--bad-bg);filter:none}
        .plain{display:inline;width:auto;min-height:1.75rem;padding:.125rem 0;background:none;
        border:0;color:var(--link);text-decoration:underline;text-underline-offset:.2em;
        font-weight:400}
        summary{list-style:none;background:transparent;color:var(--ink);border-color:var(--edge)}
        summary::-webkit-details-marker{display:none}
        summary:hover{background:var(--hover)}
        summary.danger{color:var(--bad);border-color:var(--bad)}
        summary.danger:hover{background:var(--bad-bg)}
        details[open]>summary{background:var(--hover)}
        details>form{margin-top:.75rem}
        .check{display:flex;gap:.75rem;align-items:center;min-height:1.75rem;font-weight:400}
        .check input{flex:none;width:1.375rem;height:1.375rem;margin:0;accent-color:var(--accent)}
        button+button,.stack>*+*,.card>form+form,.card>p+.button,.button+.button{margin-top:.75rem}
        .links+button,.button+p,.button+.links,form+.button{margin-top:1rem}
        .stack .button{gap:.75rem;justify-content:flex-start}
        .stack .mark{width:1.75rem;height:1.75rem;border-radius:.5rem;font-size:1rem}
        .or{display:flex;align-items:center;gap:1rem;margin:1.25rem 0;color:var(--soft);
        font-size:.875rem}
        .or::before,.or::after{content:"";flex:1;border-top:1px solid var(--line)}
        .links{display:flex;flex-wrap:wrap;align-items:baseline;gap:.375rem 1.25rem;
        margin:1.25rem 0 0;font-size:.9375rem}
        .links form{display:inline}
        .links>*{min-width:0;overflow-wrap:anywhere}
        .links>a{min-height:1.75rem}

        """

    private static let account = """
        main.wide{max-width:46rem}
        .wide .card+.card{margin-top:1.25rem}
        .items{list-style:none;margin:1rem 0 0;padding:0}
        .items>li{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem 1rem;
        padding:.875rem 0;border-top:1px solid var(--line)}
        .items .what{flex:1 1 14rem;min-width:0;overflow-wrap:anywhere}
        .items .what>*{margin:0;display:block}
        .items .what>.badge{display:inline-block}
        .items .what>.facts{display:flex}
        .facts{display:flex;flex-wrap:wrap;gap:0 1rem;overflow:hidden}
        .facts>*{position:relative;min-width:0}
        .facts>*::before{content:"·";position:absolute;left:-.625rem}
        .card>.items:last-child>li:last-child{padding-bottom:0}
        .items+form,.items+div{margin-top:1rem}
        .items button,.items summary,.short{width:auto;min-height:2.75rem;padding:.375rem min(1rem,3vw)}
        .items details[open]{flex:1 0 100%;order:3}
        .items details[open]>summary{display:inline-flex}
        a.short{display:inline-flex}
        .wide .card>form,.wide .card>.pair,.wide .card details>form{max-width:27rem}
        .wide .card>p{max-width:36rem}
        .row{display:flex;flex-wrap:wrap;gap:.75rem;align-items:flex-end}
        .row .field{flex:1 1 12rem;margin:0}
        .row button{width:auto}
        .badge{display:inline-block;border-radius:1rem;padding:.0625rem .625rem;font-size:.8125rem;
        font-weight:600;background:var(--good-bg);color:var(--good)}
        .badge.bad{background:var(--bad-bg);color:var(--bad)}
        nav.tabs{display:flex;gap:.5rem;overflow-x:auto;scrollbar-width:none;
        margin:-.375rem max(-.375rem,-3vw) .875rem;padding:.375rem}
        nav.tabs a{flex:none;padding:.5rem .875rem;border-radius:.625rem;color:var(--ink);
        text-decoration:none;font-weight:600;min-height:2.75rem;display:flex;align-items:center}
        @media (max-width:30rem){nav.tabs{gap:.25rem}nav.tabs a{padding:.375rem .5rem;
        font-size:.9375rem}}
        nav.tabs a:hover{background:var(--hover)}
        nav.tabs a[aria-current]{background:var(--accent);color:var(--on-accent);
        box-shadow:inset 0 0 0 1px var(--rim);scroll-initial-target:nearest}
        .qr{display:block;width:min(13rem,100%);height:auto;aspect-ratio:1;margin:1rem 0;
        background:#fff;border-radius:.625rem;padding:.5rem}
        .codes{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(10rem,100%),1fr));
        gap:.25rem
        1rem;list-style:none;padding:1rem;margin:0 0 1rem;background:var(--bg);
        border-radius:.625rem;font:1.0625rem/1.7 ui-monospace,monospace}
        .scopes{margin:0 0 1.25rem;padding:0 0 0 1.25rem}
        .scopes li{margin:0 0 .375rem}
        .pair{display:flex;flex-wrap:wrap;gap:.75rem}
        .pair>*{flex:1 1 12rem;min-width:0}
        .pair>details[open]{flex-basis:100%}
        .pair>*+*{margin:0}

        """
}
