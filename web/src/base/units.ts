// Units as types: a number of milliseconds is not a number of dollars, and the compiler knows.
//
// A brand exists for the compiler only; at run time these are plain numbers. Values enter through
// the functions below, at the border (api/, form fields); arithmetic that changes the unit is
// done in named functions, so that each change of unit stands in one place.

declare const unit: unique symbol;
export type Quantity<U extends string> = number & { readonly [unit]: U };

export type Ms = Quantity<'ms'>;
export type TokensPerSecond = Quantity<'tok/s'>;
export type UsdPerHour = Quantity<'usd/h'>;
export type Kilowatt = Quantity<'kW'>;

export const ms = (value: number): Ms => value as Ms;
export const tokensPerSecond = (value: number): TokensPerSecond => value as TokensPerSecond;
export const usdPerHour = (value: number): UsdPerHour => value as UsdPerHour;
export const kilowatt = (value: number): Kilowatt => value as Kilowatt;
