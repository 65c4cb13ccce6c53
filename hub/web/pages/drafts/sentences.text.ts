import { texts } from '../../../../shared/words/texts.ts'
import { plural } from '../../../../web/ui/language.ts'

/** The sentences of a draft with their evidence, and what a person can do where there is none. */
export const sentencesText = texts(
  {
    sentences: 'Sentences and evidence',
    none: 'No sentence states anything that needs evidence.',
    harmless: (n: number) =>
      plural('en', n, {
        one: '# sentence states nothing: a greeting, a question or a wish.',
        other: '# sentences state nothing: greetings, questions and wishes.',
      }),
    verdicts: {
      harmless: 'It states nothing.',
      supported: 'The evidence says exactly this.',
      contradicted: 'The evidence says otherwise. Change this sentence.',
      unsure: 'No evidence says exactly this. Change it, add evidence, or stand for it.',
    },
    fails: (names: string, n: number) =>
      plural('en', n, {
        one: `It does not hold for ${names}.`,
        other: `It does not hold for # recipients, among them ${names}.`,
      }),
    hints: {
      supported: 'The model thinks that the evidence says so; this model does not decide.',
      contradicted: 'The model thinks that the evidence says otherwise.',
      not_stated: 'The model finds nothing in the evidence that says so.',
    },
    ask: 'Ask the model',
    add: 'Add evidence',
    stand: 'I stand for this sentence',
    stand_against: 'I stand for it against the evidence',
    withdraw: 'I no longer stand for it',
    stood: {
      session: 'The admin stands for this sentence, since',
      token: 'A script with the hub’s token stands for this sentence, since',
    },
    stood_by: (name: string) => `${name} stands for this sentence, since`,
    dialog: 'Add evidence',
    fact: 'Fact',
    fact_hint: 'One sentence, as the source says it. It supports only what says exactly the same.',
    source: 'Source',
    source_hint: 'A web address, a file and its row, or who said so and when.',
    about: 'About',
    about_lead: 'This recipient',
    about_us: 'Us',
    save: 'Add',
    proven: 'Proven',
    unproven: 'No evidence',
  },
  {
    sentences: 'Cümleler ve kanıtları',
    none: 'Kanıt gerektiren bir cümle yok.',
    harmless: (n) =>
      plural('tr', n, { other: '# cümle bir şey öne sürmüyor: selam, soru ya da dilek.' }),
    verdicts: {
      harmless: 'Bir şey öne sürmüyor.',
      supported: 'Kanıt tam olarak bunu söylüyor.',
      contradicted: 'Kanıt tersini söylüyor. Bu cümleyi değiştirin.',
      unsure:
        'Hiçbir kanıt tam olarak bunu söylemiyor. Değiştirin, kanıt ekleyin ya da sorumluluğunu alın.',
    },
    fails: (names, n) =>
      plural('tr', n, {
        one: `${names} için doğru değil.`,
        other: `# alıcı için doğru değil; aralarında ${names} var.`,
      }),
    hints: {
      supported: 'Model, kanıtın bunu söylediğini düşünüyor; bu modelin sözü yetmez.',
      contradicted: 'Model, kanıtın tersini söylediğini düşünüyor.',
      not_stated: 'Model, kanıtta bunu söyleyen bir şey bulamadı.',
    },
    ask: 'Modele sor',
    add: 'Kanıt ekle',
    stand: 'Bu cümlenin sorumluluğunu alıyorum',
    stand_against: 'Kanıta rağmen sorumluluğunu alıyorum',
    withdraw: 'Sorumluluğunu geri çekiyorum',
    stood: {
      session: 'Bu cümlenin sorumluluğunu yönetici aldı:',
      token: 'Bu cümlenin sorumluluğunu hub anahtarını kullanan bir betik aldı:',
    },
    stood_by: (name) => `${name} bu cümlenin arkasında duruyor, tarih:`,
    dialog: 'Kanıt ekle',
    fact: 'Bilgi',
    fact_hint: 'Kaynağın söylediği gibi tek cümle. Yalnızca aynısını söyleyeni destekler.',
    source: 'Kaynak',
    source_hint: 'Bir web adresi, dosya ve satırı ya da kimin ne zaman söylediği.',
    about: 'Kimin hakkında',
    about_lead: 'Bu alıcı',
    about_us: 'Biz',
    save: 'Ekle',
    proven: 'Kanıtlı',
    unproven: 'Kanıt yok',
  },
)
