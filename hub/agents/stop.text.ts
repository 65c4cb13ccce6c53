import { texts } from '../i18n/words.ts'
import { agentName } from './names.text.ts'

/** Why an agent stops, or what it waits for. */
export const stopText = texts(
  {
    steps_used: (steps: number) =>
      `The budget of ${steps} steps is used up. Split the task into smaller ones.`,
    tokens_used: (tokens: number) =>
      `The budget of ${tokens} tokens is used up. Split the task into smaller ones.`,
    wrong_step: (step: string, why: string) => `The model failed at the step "${step}": ${why}`,
    waits_for_yes: (what: string) => `Waiting for your approval: ${what}`,
    you_said_no: (what: string) => `You rejected: ${what}`,
    no_file: (path: string) => `There is no file "${path}" in this project.`,
    nobody:
      'There is nobody to write to: the task names no lead, and every new lead either has a draft already or has no e-mail address.',
    draft_gone: 'The draft no longer exists.',
    draft_went_out: 'The draft is being sent or was sent. Only an unsent draft can be redesigned.',
    no_change: 'The edits change nothing. Describe more precisely what should be different.',
    file_gone: (path: string) => `The file ${path} no longer exists.`,
    file_too_long: (path: string, length: number, most: number) =>
      `${path} has ${length} characters; this agent patches files of at most ${most}.`,
    no_new_name: (path: string) =>
      `"${path}" is not a valid name for a new file; an example is src/name.py.`,
    no_file_named: 'No file to change or create was named.',
    not_once: (count: number, text: string) =>
      `The text to replace must occur once in the file, but occurs ${count} times: ${text}`,
    broken_syntax: (path: string, error: string) =>
      `No patch was written, because ${path} could not be parsed afterwards: ${error}. Ask for a smaller change.`,
    agent_off:
      'This agent is switched off. Switch it on in Settings > Agent Prompt Editor: it writes a patch file for the hub and never applies it.',
    query_failed: (error: string, sql: string) =>
      `The query failed twice, the last time with: ${error} Query: ${sql}`,
    query_forbidden: (error: string) => `A query may only read this project's data (${error}).`,
    one_select: 'Only one select statement is allowed.',
    one_statement: 'Only one statement is allowed.',
    strange_numbers: (numbers: string) => `These numbers are not in the given text: ${numbers}.`,
    no_website: 'There is no website to read. Give an address, or name a lead that has a website.',
    web_off: 'Reading the web is switched off. Switch it on in Settings > Agent Prompt Editor.',
    read: (hosts: string) => `Read ${hosts}`,
    search: (queries: string, host: string) => `Search at ${host} for: ${queries}`,
    prompt_full: (agent: string, most: number) =>
      `The prompt of ${agentName('en', agent)} would exceed ${most} characters. Shorten it first.`,
    rules_full: (agent: string, most: number) =>
      `The rules of ${agentName('en', agent)} in this project would exceed ${most} characters. Shorten them in Project first.`,
    rules_long: (agent: string, length: number, most: number) =>
      `The rules of ${agentName('en', agent)} in this project have ${length} characters, and ${most} are allowed. Shorten them in Project.`,
    prompt_unreadable: (agent: string, why: string) =>
      `The prompt of ${agentName('en', agent)} cannot be read: ${why}. Correct it in Settings > Agent Prompt Editor.`,
  },
  {
    steps_used: (steps) => `${steps} adımlık bütçe tükendi. İşi daha küçük görevlere bölün.`,
    tokens_used: (tokens) => `${tokens} belirteçlik bütçe tükendi. İşi daha küçük görevlere bölün.`,
    wrong_step: (step, why) => `Model “${step}” adımını yapamadı: ${why}`,
    waits_for_yes: (what) => `Onayınızı bekliyor: ${what}`,
    you_said_no: (what) => `Reddettiğiniz istek: ${what}`,
    no_file: (path) => `Bu projede “${path}” adlı bir dosya yok.`,
    nobody:
      'Yazılacak kimse yok: görevde aday adı geçmiyor; yeni adayların da ya taslağı var ya e-posta adresi yok.',
    draft_gone: 'Taslak artık yok.',
    draft_went_out:
      'Taslak gönderiliyor ya da gönderildi; yalnızca gönderilmemiş taslaklar yeniden tasarlanabilir.',
    no_change:
      'Düzenlemeler bir şey değiştirmiyor. Neyin farklı olması gerektiğini daha açık yazın.',
    file_gone: (path) => `${path} dosyası artık yok.`,
    file_too_long: (path, length, most) =>
      `${path} dosyası ${length} karakter; bu ajanın yaması en çok ${most} karakterlik dosyalar içindir.`,
    no_new_name: (path) => `“${path}” yeni bir dosyanın adı olamaz; örnek: src/name.py.`,
    no_file_named: 'Hiçbir dosya adı verilmedi.',
    not_once: (count, text) =>
      `Değiştirilecek metin dosyada bir kez değil, ${count} kez geçiyor: ${text}`,
    broken_syntax: (path, error) =>
      `Yama yazılmadı; değişiklikten sonra ${path} ayrıştırılamıyor: ${error}. Daha küçük bir değişiklik isteyin.`,
    agent_off:
      'Bu ajan kapalı. Ayarlar > Ajan istem düzenleyicisi bölümünden açın: hub için yama dosyası yazar, onu asla uygulamaz.',
    query_failed: (error, sql) => `Sorgu iki kez başarısız oldu; son hata: ${error} Sorgu: ${sql}`,
    query_forbidden: (error) => `Sorgular yalnızca bu projenin verilerini okuyabilir (${error}).`,
    one_select: 'Yalnızca tek bir select ifadesine izin var.',
    one_statement: 'Yalnızca tek bir ifadeye izin var.',
    strange_numbers: (numbers) => `Bu sayılar verilen metinde yok: ${numbers}.`,
    no_website: 'Okunacak site yok. Bir adres yazın ya da web sitesi olan bir adayı belirtin.',
    web_off: 'Web okuma kapalı. Ayarlar > Ajan istem düzenleyicisi bölümünden açın.',
    read: (hosts) => `Şunu oku: ${hosts}`,
    search: (queries, host) => `${host} üzerinde ara: ${queries}`,
    prompt_full: (agent, most) =>
      `${agentName('tr', agent)} ajanının istemi ${most} karakteri aşardı. Önce kısaltın.`,
    rules_full: (agent, most) =>
      `${agentName('tr', agent)} ajanının bu projedeki kuralları ${most} karakteri aşardı. Önce Proje sayfasında kısaltın.`,
    rules_long: (agent, length, most) =>
      `${agentName('tr', agent)} ajanının bu projedeki kuralları ${length} karakter; en çok ${most} olabilir. Proje sayfasında kısaltın.`,
    prompt_unreadable: (agent, why) =>
      `${agentName('tr', agent)} ajanının istemi okunamıyor: ${why}. Ayarlar > Ajan istem düzenleyicisi bölümünde düzeltin.`,
  },
)
