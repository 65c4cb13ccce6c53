import { texts } from '../../shared/words/texts.ts'

/** Why a message did not arrive, as the service stores it: in English. */
export const failuresText = texts(
  { say: (failure: string) => failure },
  {
    say: (failure) => {
      const known = SENTENCES.get(failure)
      if (known) return known
      for (const [form, said] of FORMS) {
        const match = form.exec(failure)
        if (match) return said(...match.slice(1))
      }
      return failure
    },
  },
)

const SENTENCES = new Map(
  Object.entries({
    'The target is not a public address, so nothing was sent.':
      'Hedef, herkese açık bir adres olmadığı için hiçbir şey gönderilmedi.',
    'The target’s host name could not be resolved.': 'Hedefin sunucu adı çözümlenemedi.',
    'The target refused or dropped the connection.': 'Hedef bağlantıyı reddetti ya da kesti.',
    'The target’s TLS certificate is not valid for its host name.':
      'Hedefin TLS sertifikası, sunucu adı için geçerli değil.',
    'The target did not answer in time.': 'Hedef zamanında yanıt vermedi.',
    'The receiver asked for it.': 'Alıcı böyle istedi.',
    'It fails.': 'Hata veriyor.',
    'It was never its turn.': 'Sıra ona hiç gelmedi.',
    'It could not be delivered before its deadline. It was never its turn.':
      'Süresi dolmadan iletilemedi: sıra ona hiç gelmedi.',
    'Somebody unsubscribed with the link in one of its mails.':
      'Biri, postalardan birindeki bağlantıyla abonelikten çıktı.',
  }),
)

/** Who answers; the others are called by their own names. */
const RECEIVERS = new Map(
  Object.entries({
    'The receiver': 'Alıcı',
    'The push service': 'Bildirim hizmeti',
    'The workflow': 'İş akışı',
  }),
)

const FORMS: [form: RegExp, said: (...parts: (string | undefined)[]) => string][] = [
  [
    /^(.{1,40}?) answered (?:HTTP )?(\d{3})(?:: (.*?))?\.(?: (.+))?$/s,
    (who = '', status, said, rest) => {
      const answer = `${RECEIVERS.get(who) ?? who} HTTP ${status} yanıtını verdi${said ? `: ${said}` : ''}.`
      return rest ? `${answer} Hizmetin açıklaması: “${rest}”` : answer
    },
  ],
  [
    /^It could not be delivered before its deadline\. There (?:was one attempt|were (\d+) attempts), the last with: (.+)$/s,
    (count = '1', last = '') =>
      `Süresi dolmadan iletilemedi: ${count} deneme yapıldı, sonuncusu: ${failuresText.tr.say(last)}`,
  ],
]
