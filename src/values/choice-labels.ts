/** Labels of choices, which files may contain instead of the stored words. */

import { type Message, say, type Text } from './message.ts';

export const CHOICE_LABELS: { readonly [choice: string]: Message } = {
  // Statuses of members and loans
  active: say('active'),
  inactive: say('inactive'),
  suspended: say('suspended'),
  withdrawn: say('withdrawn'),
  deceased: say('deceased'),
  pending: say('pending'),
  approved: say('approved'),
  rejected: say('rejected'),
  cancelled: say('cancelled'),
  paid: say('paid'),
  defaulted: say('defaulted'),
  recorded: say('recorded'),
  void: say('void'),
  // Roles and genders
  MEMBER: say('member'),
  PRESIDENT: say('president'),
  VICE_PRESIDENT: say('vice-president'),
  SECRETARY: say('secretary'),
  TREASURER: say('treasurer'),
  ADVISOR: say('advisor'),
  AUDITOR: say('auditor'),
  MANAGER: say('manager'),
  MALE: say('man'),
  FEMALE: say('woman'),
  OTHER: say('other'),
  // Savings transactions and payments
  contribution: say('paid in'),
  withdrawal: say('paid out'),
  cash: say('cash'),
  bank: say('bank'),
  mobile_money: say('mobile money'),
  deduction: say('deduction'),
  // Statuses and sectors of cooperatives
  dissolved: say('dissolved'),
  agriculture: say('agriculture'),
  livestock: say('livestock'),
  fishing: say('fishing'),
  trading: say('trading'),
  services: say('services'),
  transport: say('transport'),
  housing: say('housing'),
  handicraft: say('handicraft'),
  mining: say('mining'),
  savings_credit: say('savings and credit'),
  other: say('other'),
};

export const labelOf = (value: string): Text => CHOICE_LABELS[value] ?? value;
