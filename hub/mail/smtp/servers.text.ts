import { texts } from '../../i18n/words.ts'

/** What the connection tests found, and why a call to listmonk failed. */
export const serverText = texts(
  {
    smtp_works: (host: string, sender: string) => `${host} accepts mail from ${sender}.`,
    imap_works: (mailbox: string, mails: number) =>
      `${mailbox} has ${mails} ${mails === 1 ? 'mail' : 'mails'}.`,
    dns: (host: string) => `There is no host named ${host}. Check the spelling.`,
    connect: (server: string, answer: string) =>
      `No mail server answers at ${server} (${answer}). Check the port and the firewall.`,
    tls: (server: string, answer: string) =>
      `No encrypted connection to ${server} (${answer}). Check the port, the encryption setting and the certificate.`,
    auth: (server: string, answer: string) =>
      `${server} rejected the user name or password (${answer}).`,
    sender: (server: string, answer: string, sender: string) =>
      `${server} does not allow ${sender} as sender (${answer}).`,
    recipient: (server: string, answer: string, sender: string) =>
      `${server} does not accept mail to ${sender} (${answer}).`,
    data: (server: string, answer: string) => `${server} does not accept the mail (${answer}).`,
    no_mailbox: (user: string, mailbox: string, server: string) =>
      `${user} has no mailbox named ${mailbox} on ${server}.`,
    listmonk: {
      connected: 'Connected.',
      unknown_user: 'listmonk does not know this API user and token. Copy both from Admin > Users.',
      missing: (names: string) =>
        `The API user lacks these permissions: ${names}. Add them to its role in Admin > User roles.`,
      permissions: {
        'lists:get_all': 'to find the lists it has created',
        'lists:manage_all': 'to create lists',
        'subscribers:get_all': 'to see who unsubscribed',
        'subscribers:sql_query': 'to find a recipient by address',
        'subscribers:manage': 'to put recipients on a list',
        'campaigns:get_all': 'to read what was sent',
        'campaigns:manage_all': 'to create campaigns',
        'campaigns:send': 'to start campaigns',
        'tx:send': 'to send single mails',
        'bounces:get': 'to see bounces',
        'templates:get': 'to find its template',
        'templates:manage': 'to create its template',
      },
      strange_answer: (where: string) =>
        `the answer does not look like one from listmonk (${where}); check that the address is listmonk’s`,
      no_connection: (code: string) => `no connection to listmonk (${code})`,
      no_answer: (reason: string) => `no answer from listmonk (${reason})`,
      answered: (status: number, said: string) => `listmonk answered ${status}: ${said}`,
      redirects: 'the address redirects; enter the one it redirects to',
      without_reason: 'without a reason',
      invisible: (email: string) => `${email} already exists, but this token cannot see it`,
      no_draft: (id: number, status: string) =>
        `listmonk created campaign ${id} in state ${status} instead of as a draft`,
    },
    dns_advice: {
      spf: (domain: string) =>
        `Publish a TXT record "v=spf1 … -all" at ${domain} that names your mail server.`,
      dkim: 'No key was found. Make one in Project > Brand; if your mail server signs with a key of its own, none is needed.',
      dmarc: (domain: string) =>
        `Publish a TXT record "v=DMARC1; p=none; rua=mailto:…" at _dmarc.${domain}.`,
      unknown: 'DNS could not be queried.',
    },
  },
  {
    smtp_works: (host, sender) =>
      `${host}, ${sender} adresinden gönderilen e-postayı kabul ediyor.`,
    imap_works: (mailbox, mails) => `${mailbox} kutusunda ${mails} e-posta var.`,
    dns: (host) => `${host} adlı bir sunucu yok. Yazımını denetleyin.`,
    connect: (server, answer) =>
      `${server} adresinde yanıt veren bir e-posta sunucusu yok (${answer}). Bağlantı noktasını ve güvenlik duvarını denetleyin.`,
    tls: (server, answer) =>
      `${server} ile şifreli bağlantı kurulamadı (${answer}). Bağlantı noktasını, şifrelemeyi ve sertifikayı denetleyin.`,
    auth: (server, answer) => `${server} kullanıcı adını ya da parolayı kabul etmedi (${answer}).`,
    sender: (server, answer, sender) =>
      `${server}, gönderen olarak ${sender} adresine izin vermiyor (${answer}).`,
    recipient: (server, answer, sender) =>
      `${server}, ${sender} adresine gelen e-postayı kabul etmiyor (${answer}).`,
    data: (server, answer) => `${server} e-postayı kabul etmiyor (${answer}).`,
    no_mailbox: (user, mailbox, server) =>
      `${server} sunucusunda ${user} kullanıcısının ${mailbox} adlı kutusu yok.`,
    listmonk: {
      connected: 'Bağlandı.',
      unknown_user:
        'listmonk bu API kullanıcısını ve erişim anahtarını tanımıyor. İkisini de Admin > Users bölümünden kopyalayın.',
      missing: (names) =>
        `API kullanıcısında şu izinler eksik: ${names}. Rolüne Admin > User roles bölümünde ekleyin.`,
      permissions: {
        'lists:get_all': 'oluşturduğu listeleri bulmak için',
        'lists:manage_all': 'liste oluşturmak için',
        'subscribers:get_all': 'kimin abonelikten çıktığını görmek için',
        'subscribers:sql_query': 'alıcıyı adresiyle bulmak için',
        'subscribers:manage': 'alıcıları listeye almak için',
        'campaigns:get_all': 'nelerin gönderildiğini okumak için',
        'campaigns:manage_all': 'kampanya oluşturmak için',
        'campaigns:send': 'kampanya başlatmak için',
        'tx:send': 'tek e-posta göndermek için',
        'bounces:get': 'geri dönenleri görmek için',
        'templates:get': 'kendi şablonunu bulmak için',
        'templates:manage': 'kendi şablonunu oluşturmak için',
      },
      strange_answer: (where) =>
        `gelen yanıt listmonk’un yanıtına benzemiyor (${where}); adresin listmonk’a ait olduğunu denetleyin`,
      no_connection: (code) => `listmonk’a bağlanılamadı (${code})`,
      no_answer: (reason) => `listmonk yanıt vermedi (${reason})`,
      answered: (status, said) => `listmonk ${status} yanıtını verdi: ${said}`,
      redirects: 'başka bir adrese yönlendiriyor; o adresi girin',
      without_reason: 'gerekçe belirtmedi',
      invisible: (email) => `${email} kayıtlı, ama bu erişim anahtarı onu göremiyor`,
      no_draft: (id, status) =>
        `listmonk ${id} numaralı kampanyayı taslak olarak değil, “${status}” durumunda oluşturdu`,
    },
    dns_advice: {
      spf: (domain) =>
        `${domain} alan adında, e-posta sunucunuzu adıyla belirten bir TXT kaydı yayımlayın: "v=spf1 … -all"`,
      dkim: 'Anahtar bulunamadı. Proje > Marka sayfasında bir anahtar oluşturun; e-posta sunucunuz kendi anahtarıyla imzalıyorsa gerekmez.',
      dmarc: (domain) =>
        `_dmarc.${domain} adında bir TXT kaydı yayımlayın: "v=DMARC1; p=none; rua=mailto:…"`,
      unknown: 'DNS sorgulanamadı.',
    },
  },
)
