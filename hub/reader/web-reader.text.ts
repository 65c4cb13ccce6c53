import { texts } from '../i18n/words.ts'

/** Why a page was not read. */
export const readerText = texts(
  {
    no_address: 'It is no web address.',
    credentials: 'It has a user or password in it; addresses of pages have none.',
    port: (host: string) => `${host}: pages are read on the ports 80 and 443 only.`,
    not_public: (host: string) => `${host} is not found, or lies inside the own network.`,
    robots: (host: string) => `robots.txt of ${host} does not want it read.`,
    robots_unread: (host: string) =>
      `robots.txt of ${host} cannot be read, so nobody knows whether the site wants to be.`,
    endless: (host: string) => `${host} sends its readers on and on.`,
    too_much: (host: string) =>
      `${host} is more than a page may cost; nothing more of it is taken.`,
    slow: (host: string) => `${host} took too long.`,
    no_page: (url: string, type: string) =>
      `${url} is no page to be read (${type === '' ? 'of no type' : type}).`,
    answered: (url: string, status: number) => `${url} answered ${status}.`,
    no_answer: (url: string) => `${url} answered nothing.`,
    failed: (url: string, why: string) => `${url} could not be read: ${why}`,
    browser: {
      no_chromium: 'Chromium is not installed.',
      root: 'Chromium has no sandbox as root, and without one no page is read. Run the hub as another user.',
      sandbox: (why: string) =>
        `Chromium’s sandbox does not start, and without one no page is read (${why}). It needs user namespaces: sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0; on Ubuntu install google-chrome-stable, which AppArmor lets have them.`,
      start: (why: string) => `Chromium does not start: ${why}`,
      page: (why: string) => `Chromium could not show the page: ${why}`,
      away: (why: string) =>
        `The reader of web pages does not answer (${why}). Do: systemctl start watchpost-reader.socket`,
    },
  },
  {
    no_address: 'Bu bir web adresi değil.',
    credentials: 'İçinde kullanıcı adı ya da parola var; sayfa adreslerinde bunlar olmaz.',
    port: (host) => `${host}: sayfalar yalnızca 80 ve 443 numaralı bağlantı noktalarından okunur.`,
    not_public: (host) => `${host} bulunamadı ya da iç ağda.`,
    robots: (host) => `${host} sitesinin robots.txt dosyası okunmasını istemiyor.`,
    robots_unread: (host) =>
      `${host} sitesinin robots.txt dosyası okunamadı; sitenin okunmak isteyip istemediği bilinmiyor.`,
    endless: (host) => `${host} okurunu durmadan başka adrese yönlendiriyor.`,
    too_much: (host) => `${host} bir sayfa için ayrılandan büyük; fazlası alınmadı.`,
    slow: (host) => `${host} çok yavaş yanıt verdi.`,
    no_page: (url, type) => `${url} okunacak bir sayfa değil (${type === '' ? 'türü yok' : type}).`,
    answered: (url, status) => `${url} ${status} yanıtını verdi.`,
    no_answer: (url) => `${url} yanıt vermedi.`,
    failed: (url, why) => `${url} okunamadı: ${why}`,
    browser: {
      no_chromium: 'Chromium kurulu değil.',
      root: 'Chromium, root olarak çalışınca korumalı alan kuramaz; onsuz da sayfa okunmaz. Hub’ı başka bir kullanıcıyla çalıştırın.',
      sandbox: (why) =>
        `Chromium’un korumalı alanı (sandbox) başlamıyor; onsuz sayfa okunmaz (${why}). Kullanıcı ad alanları gerekir: sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces 0’dan büyük; Ubuntu’da AppArmor’un izin verdiği google-chrome-stable paketini kurun.`,
      start: (why) => `Chromium başlamıyor: ${why}`,
      page: (why) => `Chromium sayfayı gösteremedi: ${why}`,
      away: (why) =>
        `Web sayfası okuyucusu yanıt vermiyor (${why}). Komut: systemctl start watchpost-reader.socket`,
    },
  },
)
