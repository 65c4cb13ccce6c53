import { texts } from '../../../../shared/words/texts.ts'

/** How much a mission can take. */
export const limitsText = texts(
  {
    title: 'How much fits',
    task: (n: string) => `Task: ${n} characters`,
    text: (whole: string, read: string) =>
      `Text: ${whole} characters as they are, up to ${read} as a summary of their parts`,
    mails: (n: string) =>
      `Mails: up to ${n} leads each get a mail of their own; more get one campaign`,
    context: (n: string) => `Model: ${n} tokens for what it reads and writes at once`,
    assumed: (n: string) =>
      `Model: it does not say how much it reads at once; ${n} tokens are assumed`,
    told: 'The mission says what it did not use.',
    long_task: (n: string) => `Only the first ${n} characters of the task will be read.`,
    in_parts: (n: number) =>
      `This text is too long to be read at once. It will be summarised in ${n} parts, one call of the model each.`,
    cut: (n: string) => `Only the first ${n} characters of this text will be read, as a summary.`,
  },
  {
    title: 'Ne kadarı sığar',
    task: (n) => `Görev: ${n} karakter`,
    text: (whole, read) =>
      `Metin: ${whole} karakter olduğu gibi, ${read} karaktere kadar bölüm bölüm özetlenerek`,
    mails: (n) =>
      `E-postalar: en çok ${n} adayın her birine ayrı e-posta; daha fazlası için tek kampanya`,
    context: (n) => `Model: bir kerede okuyup yazdığı ${n} belirteç`,
    assumed: (n) => `Model bir kerede ne kadar okuduğunu söylemiyor; ${n} belirteç varsayılıyor`,
    told: 'Görev, neyi kullanmadığını söyler.',
    long_task: (n) => `Görevin yalnızca ilk ${n} karakteri okunacak.`,
    in_parts: (n) =>
      `Bu metin bir kerede okunamayacak kadar uzun. ${n} bölümde özetlenecek; her bölüm için model bir kez çağrılır.`,
    cut: (n) => `Bu metnin yalnızca ilk ${n} karakteri okunacak, özetlenerek.`,
  },
)
