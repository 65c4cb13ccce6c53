import { texts } from '../../../../shared/words/texts.ts'

export const projectText = texts(
  {
    title: 'Project',
    about:
      'What the agents read before they research or write. It is stored in CONTEXT.md in the project’s folder; you can also edit that file.',
    fields: {
      name: 'Name',
      website: 'Website',
      industry: 'Industry',
      description: 'Description',
      icp: 'Ideal customer',
    },
    hints: {
      description: 'One sentence: what it is and for whom.',
      icp: 'Who, where and how big.',
    },
    writing: {
      title: 'What mails are written from',
      text: 'A mail says only what is written here and what is known about the lead. What is missing is not invented.',
    },
    saved: 'The project was saved',
    rules: {
      title: 'What agents have learned here',
      text: 'Rules that you approved for this project only. What holds for all projects is in Settings > Agent Prompt Editor.',
      of: (agent: string) => `Rules of ${agent}`,
      saved: 'The rules were saved',
    },
    delete: {
      title: 'Delete project',
      text: 'Removes its leads, drafts and missions from the hub. An archive of them stays on the server.',
      open: 'Delete project',
      confirm: (name: string) => `Type ${name} to delete it`,
      submit: 'Delete this project',
      done: (archive: string) => `Project deleted. Its archive is ${archive}`,
    },
  },
  {
    title: 'Proje',
    about:
      'Ajanların araştırmadan ve yazmadan önce okudukları. Proje klasöründeki CONTEXT.md dosyasında saklanır; o dosyayı da düzenleyebilirsiniz.',
    fields: {
      name: 'Ad',
      website: 'Web sitesi',
      industry: 'Sektör',
      description: 'Açıklama',
      icp: 'İdeal müşteri',
    },
    hints: {
      description: 'Tek cümle: ne olduğu ve kimin için olduğu.',
      icp: 'Kim, nerede, ne büyüklükte.',
    },
    writing: {
      title: 'E-postalar bunlardan yazılır',
      text: 'Bir e-posta yalnızca burada yazanları ve aday hakkında bilinenleri söyler. Eksik olan uydurulmaz.',
    },
    saved: 'Proje kaydedildi',
    rules: {
      title: 'Ajanların burada öğrendikleri',
      text: 'Yalnızca bu proje için onayladığınız kurallar. Tüm projelerde geçerli olanlar Ayarlar > Ajan istem düzenleyicisi bölümündedir.',
      of: (agent) => `${agent} ajanının kuralları`,
      saved: 'Kurallar kaydedildi',
    },
    delete: {
      title: 'Projeyi sil',
      text: 'Adaylarını, taslaklarını ve görevlerini hub’dan kaldırır. Arşivleri sunucuda kalır.',
      open: 'Projeyi sil',
      confirm: (name) => `Silmek için ${name} yazın`,
      submit: 'Bu projeyi sil',
      done: (archive) => `Proje silindi. Arşivi: ${archive}`,
    },
  },
)
