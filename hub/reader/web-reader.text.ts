import { texts } from '../i18n/words.ts'

/** Why a page was not read. */
export const readerText = texts(
  {
    no_address: 'This is not a web address.',
    credentials: 'The address must not contain a user name or password.',
    port: (host: string) => `${host}: pages are only read on ports 80 and 443.`,
    not_public: (host: string) => `${host} does not exist or is inside your own network.`,
    robots: (host: string) => `The robots.txt of ${host} does not allow reading this page.`,
    robots_unread: (host: string) =>
      `The robots.txt of ${host} cannot be read, so it is unknown whether the site allows reading.`,
    endless: (host: string) => `${host} keeps redirecting to other addresses.`,
    too_much: (host: string) =>
      `${host} sends more data than one page may have; the rest was not loaded.`,
    slow: (host: string) => `${host} took too long to answer.`,
    no_page: (url: string, type: string) =>
      `${url} is not a readable page (${type === '' ? 'no content type' : type}).`,
    answered: (url: string, status: number) => `${url} answered ${status}.`,
    no_answer: (url: string) => `${url} did not answer.`,
    failed: (url: string, why: string) => `${url} could not be read: ${why}`,
    browser: {
      no_chromium: 'Chromium is not installed.',
      root: 'Chromium cannot use its sandbox as root, and the hub reads no page without it. Run the hub as another user.',
      sandbox: (why: string) =>
        `Chromium’s sandbox does not start, and the hub reads no page without it (${why}). It needs user namespaces: sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0; on Ubuntu install google-chrome-stable, which AppArmor lets have them.`,
      start: (why: string) => `Chromium does not start: ${why}`,
      page: (why: string) => `Chromium could not show the page: ${why}`,
      away: (why: string) =>
        `The web reader does not answer (${why}). Run: systemctl start watchpost-reader.socket`,
    },
  },
  {
    no_address: 'Bu bir web adresi değil.',
    credentials: 'Adres kullanıcı adı ya da parola içeremez.',
    port: (host) => `${host}: sayfalar yalnızca 80 ve 443 numaralı bağlantı noktalarından okunur.`,
    not_public: (host) => `${host} bulunamadı ya da iç ağda.`,
    robots: (host) => `${host} sitesinin robots.txt dosyası bu sayfanın okunmasına izin vermiyor.`,
    robots_unread: (host) =>
      `${host} sitesinin robots.txt dosyası okunamadı; sitenin okumaya izin verip vermediği bilinmiyor.`,
    endless: (host) => `${host} sürekli başka adreslere yönlendiriyor.`,
    too_much: (host) => `${host} bir sayfanın sınırından fazla veri gönderiyor; kalanı yüklenmedi.`,
    slow: (host) => `${host} çok yavaş yanıt verdi.`,
    no_page: (url, type) =>
      `${url} okunabilir bir sayfa değil (${type === '' ? 'türü yok' : type}).`,
    answered: (url, status) => `${url} ${status} yanıtını verdi.`,
    no_answer: (url) => `${url} yanıt vermedi.`,
    failed: (url, why) => `${url} okunamadı: ${why}`,
    browser: {
      no_chromium: 'Chromium kurulu değil.',
      root: 'Chromium, root olarak çalışınca korumalı alanını (sandbox) kullanamaz; hub onsuz sayfa okumaz. Hub’ı başka bir kullanıcıyla çalıştırın.',
      sandbox: (why) =>
        `Chromium’un korumalı alanı (sandbox) başlamıyor; hub onsuz sayfa okumaz (${why}). Kullanıcı ad alanları gerekir: sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces 0’dan büyük; Ubuntu’da AppArmor’un izin verdiği google-chrome-stable paketini kurun.`,
      start: (why) => `Chromium başlamıyor: ${why}`,
      page: (why) => `Chromium sayfayı gösteremedi: ${why}`,
      away: (why) =>
        `Web sayfası okuyucusu yanıt vermiyor (${why}). Komut: systemctl start watchpost-reader.socket`,
    },
  },
)
