import { texts } from '../i18n/words.ts'

/** What an agent was given and did not use, because a limit was reached. */
export const leftOutText = texts(
  {
    cut: (what: string, read: number, total: number) =>
      `${what}: the first ${read} of ${total} characters were read.`,
    full: (what: string) => `${what}: not read, because the model’s context is full.`,
    cut_by_context: (what: string) => `${what}: only its beginning fits into the model’s context.`,
    rows: (what: string, read: number) =>
      `${what}: the first ${read} rows were read. Split the table and add the rest.`,
    columns: (what: string, most: number, names: string) =>
      `${what}: these columns did not become facts of their own, because a table has at most ${most} of them: ${names}. They are in the quotation of each row.`,
    parts: (what: string, read: number, total: number) =>
      `${what}: the first ${read} of ${total} parts were read. Split the text and add the rest.`,
    sites: (read: number, total: number) => `${read} of ${total} websites were read.`,
    files: (read: number, total: number) =>
      `${read} of ${total} files of code were named to the model, those that the task names first.`,
    results: (read: number, total: number) => `${read} of ${total} search results were read.`,
    earlier_task: 'What was asked before',
    earlier_result: 'The earlier result',
    history: (lead: string, given: number, all: number) =>
      `${lead}: the newest ${given} of ${all} entries of the history were given.`,
    evidence: (lead: string, given: number, all: number) =>
      `${lead}: ${given} of ${all} pieces of evidence were given, those that fit the task best.`,
    us: 'About us',
    no_browser:
      'Pages were read without a browser, so what only scripts show is missing. For those: apt install chromium.',
    sections: (names: string) =>
      `CONTEXT.md: these sections were left out, because the task needs them least: ${names}.`,
    summarised: (what: string, parts: number) =>
      `${what}: summarised from ${parts} ${parts === 1 ? 'part' : 'parts'}; what it claims counts only by the text itself.`,
    points: (what: string, given: number, all: number) =>
      `${what}: ${given} of ${all} points of its summary were given.`,
    mails: (written: number, asked: number) =>
      `A sequence has at most ${written} mails; ${asked} were asked for.`,
    task: 'The task',
    documents: 'The documents of the project',
    brief: 'CONTEXT.md',
  },
  {
    cut: (what, read, total) => `${what}: ${total} karakterin ilk ${read} karakteri okundu.`,
    full: (what) => `${what}: okunmadı, çünkü modelin bağlamı doldu.`,
    cut_by_context: (what) => `${what}: modelin bağlamına yalnızca başı sığdı.`,
    rows: (what, read) => `${what}: ilk ${read} satır okundu. Tabloyu bölüp kalanını ekleyin.`,
    columns: (what, most, names) =>
      `${what}: bir tablonun en çok ${most} sütunu ayrı bilgi olur; şunlar olmadı: ${names}. Her satırın alıntısında yer alırlar.`,
    parts: (what, read, total) =>
      `${what}: ${total} bölümün ilk ${read} bölümü okundu. Metni bölüp kalanını ekleyin.`,
    sites: (read, total) => `${total} web sitesinden ${read} tanesi okundu.`,
    files: (read, total) =>
      `${total} kod dosyasından ${read} tanesi modele adıyla verildi; görevde adı geçenler önce geldi.`,
    results: (read, total) => `${total} arama sonucundan ${read} tanesi okundu.`,
    earlier_task: 'Daha önce istenenler',
    earlier_result: 'Önceki sonuç',
    history: (lead, given, all) =>
      `${lead}: geçmişteki ${all} kaydın en yeni ${given} tanesi verildi.`,
    evidence: (lead, given, all) =>
      `${lead}: ${all} kanıttan göreve en uygun ${given} tanesi verildi.`,
    us: 'Bizim hakkımızda',
    no_browser:
      'Sayfalar tarayıcısız okundu; yalnızca betiklerin gösterdiği bölümler eksik. Onlar için: apt install chromium.',
    sections: (names) =>
      `CONTEXT.md: görev bunlara en az gerek duyduğu için verilmeyen bölümler: ${names}.`,
    summarised: (what, parts) =>
      `${what}: ${parts} bölümden özetlendi; söyledikleri yalnızca metnin kendisiyle geçerlidir.`,
    points: (what, given, all) => `${what}: özetindeki ${all} noktadan ${given} tanesi verildi.`,
    mails: (written, asked) => `Bir dizide en çok ${written} e-posta olur; ${asked} tane istendi.`,
    task: 'Görev metni',
    documents: 'Projenin belgeleri',
    brief: 'CONTEXT.md',
  },
)
