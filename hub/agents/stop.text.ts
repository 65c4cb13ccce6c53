import { texts } from '../i18n/words.ts'
import { agentName } from './names.text.ts'

/** Why an agent stops, or what it waits for. */
export const stopText = texts(
  {
    steps_used: (steps: number) =>
      `The budget of ${steps} steps is used up. Divide the task into smaller ones.`,
    tokens_used: (tokens: number) =>
      `The budget of ${tokens} tokens is used up. Divide the task into smaller ones.`,
    wrong_step: (step: string, why: string) => `The model could not do the step "${step}": ${why}`,
    waits_for_yes: (what: string) => `Waits for your yes: ${what}`,
    you_said_no: (what: string) => `You said no to: ${what}`,
    no_file: (path: string) => `There is no file "${path}" in this project.`,
    nobody:
      'There is nobody to write to: no lead is named and no new lead has an e-mail address and no draft yet.',
    draft_gone: 'The draft is no longer there.',
    draft_went_out: 'The draft is on its way or has gone out; only what has not gets a new form.',
    no_change: 'The edits change nothing. Say more exactly what should be different.',
    file_gone: (path: string) => `The file ${path} is no longer there.`,
    file_too_long: (path: string, length: number, most: number) =>
      `${path} has ${length} characters; a patch by this agent takes files up to ${most}.`,
    no_new_name: (path: string) => `"${path}" is no name of a new file, such as src/name.py.`,
    no_file_named: 'No file was named.',
    not_once: (count: number, text: string) =>
      `The text to replace stands ${count} times in the file, not once: ${text}`,
    agent_off:
      'This agent is switched off. Allow it under Settings > Agents: it writes a patch file for the hub and never applies it.',
    query_failed: (error: string, sql: string) =>
      `The query failed twice, the last time with: ${error} Query: ${sql}`,
    query_forbidden: (error: string) =>
      `A query reads what belongs to this project, and nothing else (${error}).`,
    one_select: 'Only one select statement is allowed.',
    one_statement: 'Only one statement is allowed.',
    strange_numbers: (numbers: string) => `These are not numbers of the given text: ${numbers}.`,
    no_website: 'No website to read: write an address, or name a lead that has a website.',
    web_off: 'Reading the web is switched off. Allow it under Settings > Agents.',
    no_chromium: 'Reading websites needs Chromium, which is not installed: apt install chromium.',
    read: (hosts: string) => `Read ${hosts}`,
    prompt_full: (agent: string, most: number) =>
      `The prompt of ${agentName('en', agent)} would be longer than ${most} characters. Shorten it first.`,
    prompt_unreadable: (agent: string, why: string) =>
      `The prompt of ${agentName('en', agent)} cannot be read: ${why}. Correct it in Settings > Prompts.`,
  },
  {
    steps_used: (steps) => `${steps} adımlık bütçe tükendi. İşi daha küçük görevlere bölün.`,
    tokens_used: (tokens) => `${tokens} belirteçlik bütçe tükendi. İşi daha küçük görevlere bölün.`,
    wrong_step: (step, why) => `Model “${step}” adımını yapamadı: ${why}`,
    waits_for_yes: (what) => `Onayınızı bekliyor: ${what}`,
    you_said_no: (what) => `Reddettiniz: ${what}`,
    no_file: (path) => `Bu projede “${path}” adlı bir dosya yok.`,
    nobody:
      'Yazılacak kimse yok: görevde aday adı geçmiyor, e-posta adresi olup da taslağı olmayan yeni aday da yok.',
    draft_gone: 'Taslak artık yok.',
    draft_went_out:
      'Taslak gönderiliyor ya da gönderildi; yalnızca henüz gönderilmemiş bir taslağın biçimi yenilenir.',
    no_change:
      'Düzenlemeler bir şey değiştirmiyor. Neyin farklı olması gerektiğini daha açık yazın.',
    file_gone: (path) => `${path} dosyası artık yok.`,
    file_too_long: (path, length, most) =>
      `${path} dosyası ${length} karakter; bu ajanın yaması en çok ${most} karakterlik dosyalar içindir.`,
    no_new_name: (path) => `“${path}” yeni bir dosyanın adı olamaz; örnek: src/name.py.`,
    no_file_named: 'Hiçbir dosya adı verilmedi.',
    not_once: (count, text) =>
      `Değiştirilecek metin dosyada bir kez değil, ${count} kez geçiyor: ${text}`,
    agent_off:
      'Bu ajan kapalı. Ayarlar > Ajanlar bölümünden izin verin: hub için yama dosyası yazar, onu asla uygulamaz.',
    query_failed: (error, sql) =>
      `Sorgu iki kez başarısız oldu; sonuncusunda: ${error} Sorgu: ${sql}`,
    query_forbidden: (error) =>
      `Bir sorgu yalnızca bu projeye ait verileri okuyabilir, başka bir şeyi okuyamaz (${error}).`,
    one_select: 'Yalnızca tek bir select ifadesine izin var.',
    one_statement: 'Yalnızca tek bir ifadeye izin var.',
    strange_numbers: (numbers) => `Bu sayılar verilen metinde yok: ${numbers}.`,
    no_website: 'Okunacak site yok: bir adres yazın ya da sitesi olan bir aday adı verin.',
    web_off: 'Web okuma kapalı. Ayarlar > Ajanlar bölümünden izin verin.',
    no_chromium: 'Site okumak için Chromium gerekir, kurulu değil: apt install chromium.',
    read: (hosts) => `Şunu oku: ${hosts}`,
    prompt_full: (agent, most) =>
      `${agentName('tr', agent)} ajanının istemi ${most} karakteri aşardı. Önce kısaltın.`,
    prompt_unreadable: (agent, why) =>
      `${agentName('tr', agent)} ajanının istemi okunamıyor: ${why}. Ayarlar > İstemler'de düzeltin.`,
  },
)
