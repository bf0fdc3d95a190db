%% chameneos-redux: creatures of three colours meet in pairs at one place, again and again, and both take on a colour that depends on
%% the two they had. Each creature is a process, and so is the place; a meeting is three messages and hardly any work, so what is
%% measured is how processes are scheduled and woken.
%%
%%     erl -noshell -run chameneosredux main MEETINGS
%%
%% A group of three creatures meets so often, then a group of ten. The program checks the sums, and what it prints is always the same;
%% who meets whom is not.
-module(chameneosredux).
-export([main/1]).

main([Text]) ->
    process_flag(trap_exit, true),
    try
        check_complements(),
        Meetings = list_to_integer(Text),
        group([blue, red, yellow], Meetings),
        group([blue, red, yellow, red, yellow, blue, red, yellow, red, blue], Meetings)
    of
        _ -> halt(0)
    catch
        _:Reason ->
            io:format(standard_error, "chameneosredux: ~p~n", [Reason]),
            halt(1)
    end.

%% The colour of one that meets another: its own if both have the same, else the third.
complement(C, C) -> C;
complement(blue, red) -> yellow;
complement(blue, yellow) -> red;
complement(red, blue) -> yellow;
complement(red, yellow) -> blue;
complement(yellow, blue) -> red;
complement(yellow, red) -> blue.

%% Two of one colour keep it; two of different colours get the third, both of them.
check_complements() ->
    Colours = [blue, red, yellow],
    [Same = complement(Same, Same) || Same <- Colours],
    [[Third] = Colours -- [One, Two] || One <- Colours, Two <- Colours, One =/= Two, Third <- [complement(One, Two)]].

group(Colours, Meetings) ->
    Place = self(),
    Creatures = [spawn_link(fun() -> creature(Place, Colour, 0, 0) end) || Colour <- Colours],
    place(Meetings),
    Met = [farewell(Creature) || Creature <- Creatures],
    Sum = lists:sum([Times || {Times, _} <- Met]),
    WithItself = lists:sum([Times || {_, Times} <- Met]),
    {sum, Sum} = {sum, 2 * Meetings},
    {with_itself, WithItself} = {with_itself, 0},
    io:format("~w creatures have met, always two, as often as asked~n", [length(Colours)]).

%% The place lets the first of two wait and then tells each whom it has met.
place(0) -> done;
place(Left) ->
    {One, ColourOfOne} = arrival(),
    {Two, ColourOfTwo} = arrival(),
    One ! {met, Two, ColourOfTwo},
    Two ! {met, One, ColourOfOne},
    place(Left - 1).

arrival() ->
    receive
        {arrives, Creature, Colour} -> {Creature, Colour};
        {'EXIT', Creature, Reason} -> error({creature_died, Creature, Reason})
    end.

%% When all meetings are over, each creature stands at the place or is on its way there, and is sent home. Its end is waited for, so
%% that no message of this group is left for the next.
farewell(Creature) ->
    receive
        {arrives, Creature, _} -> Creature ! go_home
    end,
    receive
        {home, Creature, Times, WithItself} -> ok
    end,
    receive
        {'EXIT', Creature, normal} -> {Times, WithItself}
    end.

creature(Place, Colour, Times, WithItself) ->
    Place ! {arrives, self(), Colour},
    receive
        {met, Other, OtherColour} when Other =:= self() ->
            creature(Place, complement(Colour, OtherColour), Times + 1, WithItself + 1);
        {met, _, OtherColour} ->
            creature(Place, complement(Colour, OtherColour), Times + 1, WithItself);
        go_home ->
            Place ! {home, self(), Times, WithItself}
    end.
