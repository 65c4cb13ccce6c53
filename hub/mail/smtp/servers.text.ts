import { texts } from '../../i18n/words.ts'

/** What the tests of the mail servers found, and what was wrong with a call to listmonk. */
export const serverText = texts(
  {
    smtp_works: (host: string, sender: string) => `${host} takes mail from ${sender}.`,
    imap_works: (mailbox: string, letters: number) => `${mailbox} holds ${letters} letters.`,
    dns: (host: string) => `The name ${host} is not known. Check its spelling.`,
    connect: (server: string, answer: string) =>
      `No mail server answers at ${server} (${answer}). Check the port and the firewall.`,
    tls: (server: string, answer: string) =>
      `No encrypted connection with ${server} (${answer}). Check the port, the security and the certificate.`,
    auth: (server: string, answer: string) =>
      `${server} did not accept the user and password (${answer}).`,
    sender: (server: string, answer: string, sender: string) =>
      `${server} does not let ${sender} send (${answer}).`,
    recipient: (server: string, answer: string, sender: string) =>
      `${server} does not take mail for ${sender} (${answer}).`,
    data: (server: string, answer: string) => `${server} does not take the letter (${answer}).`,
    no_mailbox: (user: string, mailbox: string, server: string) =>
      `${user} has no mailbox ${mailbox} at ${server}.`,
    listmonk: {
      connected: 'Connected.',
      unknown_user: 'listmonk does not know this API user and token. Copy both from Admin > Users.',
      missing: (names: string) =>
        `The API user lacks ${names}. Add it to its role under Admin > User roles.`,
      permissions: {
        'lists:manage_all': 'make lists',
        'subscribers:get_all': 'see who unsubscribed',
        'subscribers:sql_query': 'find a recipient by address',
        'subscribers:manage': 'put recipients on a list',
        'campaigns:get_all': 'read what was sent',
        'campaigns:manage_all': 'make campaigns',
        'campaigns:send': 'start campaigns',
        'tx:send': 'send single letters',
        'bounces:get': 'see bounces',
        'templates:get': 'find its template',
        'templates:manage': 'make its template',
      },
      strange_answer: (where: string) =>
        `the answer is not what listmonk answers (${where}); is this listmonk's address?`,
      no_connection: (code: string) => `no connection to listmonk (${code})`,
      no_answer: (reason: string) => `no answer from listmonk (${reason})`,
      answered: (status: number, said: string) => `listmonk answered ${status}: ${said}`,
      redirects: 'it redirects; enter the address it redirects to',
      without_reason: 'without a reason',
      invisible: (email: string) => `${email} is taken, but this token cannot see it`,
      no_draft: (id: number, status: string) =>
        `listmonk made campaign ${id} as ${status}, not as a draft`,
    },
    dns_advice: {
      spf: (domain: string) =>
        `Publish a TXT record "v=spf1 … -all" at ${domain} that names your mail server.`,
      dkim: 'No key was found under the usual names; ask your mail provider for its selector.',
      dmarc: (domain: string) =>
        `Publish a TXT record "v=DMARC1; p=none; rua=mailto:…" at _dmarc.${domain}.`,
      unknown: 'The DNS could not be asked.',
    },
  },
  {
    smtp_works: (host, sender) => `${host}, ${sender} adına gönderilen postayı kabul ediyor.`,
    imap_works: (mailbox, letters) => `${mailbox} kutusunda ${letters} mektup var.`,
    dns: (host) => `${host} adı bilinmiyor. Yazımını denetleyin.`,
    connect: (server, answer) =>
      `${server} adresinde yanıt veren bir posta sunucusu yok (${answer}). Kapıyı ve güvenlik duvarını denetleyin.`,
    tls: (server, answer) =>
      `${server} ile şifreli bağlantı kurulamadı (${answer}). Kapıyı, şifrelemeyi ve sertifikayı denetleyin.`,
    auth: (server, answer) => `${server} kullanıcıyı ve parolayı kabul etmedi (${answer}).`,
    sender: (server, answer, sender) =>
      `${server}, ${sender} adına gönderime izin vermiyor (${answer}).`,
    recipient: (server, answer, sender) =>
      `${server}, ${sender} adresine posta almıyor (${answer}).`,
    data: (server, answer) => `${server} mektubu kabul etmiyor (${answer}).`,
    no_mailbox: (user, mailbox, server) =>
      `${server} sunucusunda ${user} kullanıcısının ${mailbox} adlı kutusu yok.`,
    listmonk: {
      connected: 'Bağlandı.',
      unknown_user:
        'listmonk bu API kullanıcısını ve erişim anahtarını tanımıyor. İkisini de Admin > Users bölümünden kopyalayın.',
      missing: (names) =>
        `API kullanıcısında şu izinler eksik: ${names}. Rolüne Admin > User roles bölümünde ekleyin.`,
      permissions: {
        'lists:manage_all': 'liste oluşturmak için',
        'subscribers:get_all': 'kimin listeden çıktığını görmek için',
        'subscribers:sql_query': 'alıcıyı adresiyle bulmak için',
        'subscribers:manage': 'alıcıları listeye almak için',
        'campaigns:get_all': 'nelerin gönderildiğini okumak için',
        'campaigns:manage_all': 'kampanya oluşturmak için',
        'campaigns:send': 'kampanya başlatmak için',
        'tx:send': 'tek mektup göndermek için',
        'bounces:get': 'geri dönenleri görmek için',
        'templates:get': 'kendi şablonunu bulmak için',
        'templates:manage': 'kendi şablonunu oluşturmak için',
      },
      strange_answer: (where) =>
        `gelen yanıt listmonk’un yanıtına benzemiyor (${where}); bu adres listmonk’un mu?`,
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
        `${domain} alan adında, posta sunucunuzu adıyla belirten bir TXT kaydı yayımlayın: "v=spf1 … -all"`,
      dkim: 'Alışılmış adlarda anahtar bulunamadı; seçiciyi (selector) posta sağlayıcınıza sorun.',
      dmarc: (domain) =>
        `_dmarc.${domain} adında bir TXT kaydı yayımlayın: "v=DMARC1; p=none; rua=mailto:…"`,
      unknown: 'DNS’e sorulamadı.',
    },
  },
)
