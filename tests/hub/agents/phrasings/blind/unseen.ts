import type { Tasks } from './tasks.ts'

export const UNSEEN: Tasks = {
  en: {
    research: [
      'any wholesalers for packaging film in the ruhr area? names + towns',
      'tell me more about hotel aurora, who owns it, how big',
    ],
    web_research: [
      'look whether dubois.example lists any certificates',
      'what prices do they publish on their site',
    ],
    marketing: [
      'answer toms mail, we can do friday',
      'write the fair visitors, thanks for stopping by',
      'second reminder for the ones who ignored the first mail',
    ],
    sales: [
      'how do we beat a competitor who is cheaper',
      'make me an offer for nowak transport, 2 trucks a week',
    ],
    engineer: [
      'the csv import script skips the last row, repair it',
      'a bash one liner that renames all pdfs by date',
      'add tests to code/cart.py',
    ],
    engineer_system: [
      'change the hubs board so columns can be collapsed',
      'your own code has a bug in the export, patch it',
    ],
    docs: [
      'guide for using the label printer',
      'put my notes from the meeting in order as minutes',
    ],
    finance: [
      'offer costs us 1400 in material and 20 hours at 60, what margin at 3500',
      'write a bill for usta makina, 3 pumps 900 each',
      'monthly budget for a team of four',
    ],
    legal: ['is a verbal agreement binding', 'need terms and conditions for our webshop'],
    data: ['how many mails bounced in october', 'table of leads per stage and country'],
    pm: [
      'what did the team change most in agent drafts',
      'sales prompt should ask for budget first, change it',
    ],
    system: ['server disk at 97 percent what now', 'why did the mission queue stop'],
    ceo: ['write a strategy for growing in austria', 'what are our three biggest risks'],
  },
  tr: {
    research: [
      'bursada otomotiv yan sanayi firmaları lazım bize müşteri olabilecek',
      'nowak transport kimin firması kaç kişi çalışıyor araştır',
    ],
    web_research: [
      'aurora otelin sitesinden oda sayısını öğren',
      'dubois.example sertifikalarına bakar mısın',
    ],
    marketing: [
      'tomun mailine cevap ver cuma olur de',
      'fuar ziyaretçilerine teşekkür maili hazırlayalım',
      'ilk maili görmeyenlere ikinci hatırlatma',
    ],
    sales: [
      'rakip bizden ucuz müşteriyi nasıl ikna ederim',
      'nowak için haftada 2 tır üzerinden fiyat teklifi yap',
    ],
    engineer: [
      'csv okuyan script son satırı atlıyor düzelt',
      'code/sepet.py için test yaz',
      'pdf leri tarihe göre adlandıran bir komut yaz',
    ],
    engineer_system: [
      'hubın panosunda sütunlar kapansın, kodunu değiştir',
      'kendi kodundaki dışa aktarma hatasını düzelt',
    ],
    docs: ['etiket yazıcısı kullanım kılavuzu', 'toplantı notlarımı tutanağa çevir'],
    finance: [
      'malzeme 1400 işçilik 20 saat 60 tan 3500 e satarsak kar ne',
      'usta makinaya fatura yaz 3 pompa 900',
      'dört kişilik ekip için aylık bütçe',
    ],
    legal: ['sözlü anlaşma bizi bağlar mı', 'internet mağazamız için mesafeli satış şartları'],
    data: ['ekimde kaç mail geri döndü', 'aşama ve ülkeye göre aday tablosu'],
    pm: [
      'ajan taslaklarında ekip en çok neyi değiştirdi',
      'satış ajanının istemini değiştir önce bütçeyi sorsun',
    ],
    system: ['sunucu diski yüzde 97 ne yapalım', 'görev kuyruğu niye durdu'],
    ceo: ['avusturyada büyümek için strateji yaz', 'en büyük üç riskimiz ne'],
  },
}
