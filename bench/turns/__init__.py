"""What the measurements of turns stand on: a PostgreSQL of their own, scripted models, both graphs, and tables.

In one process, our chat graph and the plain one beside each other:

    async with AsyncExitStack() as stack:
        server = stack.enter_context(bench_postgres())                 # a TestServer: kill, freeze, stop
        models = stack.enter_context(ModelProcess())                   # apart, so that it costs no turn time
        side = await stack.enter_async_context(in_process(server.create_database(), models.environment))
        thread = side.new_thread()
        seconds = (await side.ours.turn(thread, "hello")).seconds      # side.plain is the same without memory
        await side.remember()                                          # the background work of the turns so far
        models.set_delay(0.5)                                          # seconds before every answer
        counted = await statements(url, work)                          # what `work()` asked of the database

Through a real `langgraph dev` with both graphs in it ("agent" and "plain"):

    with bench_postgres() as server, ModelServer() as models, served(folder, url, models.environment) as running:
        script(models, delay=lambda: 0.1)                              # in this process, to hold and to break
        client = get_client(url=running.url, api_key=None)
        turn = await served_turn(client, thread_id, "hello", graph="agent", user_id="ana")

Tables:

    report = Report("Load")
    report.figure("turns per second", "12.1", ratio("plain", 0.93), wanted="at least 0.8 times plain", reached=True)
    report.print()
"""
