"""`afterthought doctor`: what is configured, what is missing and how to fix it."""

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict

import httpx

from backend.cli.diagnosis import (
    Finding,
    check_auth,
    check_database,
    check_env_file,
    check_models,
    check_packages,
    check_python,
    check_server,
    check_settings,
)
from backend.cli.terminal import Terminal

ANSWER_SECONDS = 5.0
MARKS = {"ok": "ok     ", "note": "note   ", "problem": "PROBLEM"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    findings = asyncio.run(diagnose())
    usable = is_usable(findings)
    if options.json:
        report = {"usable": usable, "findings": [asdict(finding) for finding in findings]}
        terminal.say(json.dumps(report, ensure_ascii=False, indent=2))
    else:
        for line in render(findings):
            terminal.say(line)
    return 0 if usable else 1


async def diagnose() -> list[Finding]:
    """All findings; what needs valid settings is looked at only when they are."""
    settings, findings = check_settings()
    findings = [check_python(), *check_packages(), *findings, *check_env_file()]
    if settings is None:
        return findings
    async with httpx.AsyncClient(timeout=ANSWER_SECONDS) as client:
        return [
            *findings,
            *await check_database(settings),
            *await check_models(settings, client),
            await check_auth(settings, client),
            await check_server(settings, client),
        ]


def is_usable(findings: Sequence[Finding]) -> bool:
    """Whether nothing that was found keeps the server from working."""
    return all(finding.status != "problem" for finding in findings)


def render(findings: Sequence[Finding]) -> list[str]:
    """A line for each finding, and one below it that says what to do."""
    width = max(len(finding.subject) for finding in findings)
    lines: list[str] = []
    for finding in findings:
        lines.append(f"{MARKS[finding.status]}  {finding.subject:<{width}}  {finding.detail}")
        if finding.fix:
            lines.append(f"{'':7}  {'':<{width}}  → {finding.fix}")
    verdict = "Ready: make dev" if is_usable(findings) else "Not usable yet: see PROBLEM above"
    return [*lines, "", verdict]
