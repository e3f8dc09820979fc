//! Connections of wires echo and stream, on any stream of tokio's.

use netdyno_kit::flow::{ClientFlow, ServerFlow, Work};
use netdyno_kit::{Alarm, Failure, Load, Slot};
use std::future::poll_fn;
use std::io::ErrorKind::UnexpectedEof;
use std::pin::Pin;
use std::task::{ready, Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Makes the exchanges of one connection until its slots are let go. The failure says that it was lost; what
/// was under way is counted by then.
pub async fn drive<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S, work: &'static Work, slots: &'static [Slot], load: &Load, alarm: &Alarm,
) -> Result<(), Failure> {
    let (mut flow, mut buffer) = (ClientFlow::new(work, slots), vec![0; work.buffer]);
    let mut armed = i64::MIN;
    let result = poll_fn(|cx| turn(Pin::new(stream), cx, &mut flow, load, alarm, &mut buffer, &mut armed)).await;
    if let Err(why) = &result {
        flow.abandon(why);
    }
    result
}

fn turn<S: AsyncRead + AsyncWrite>(
    mut stream: Pin<&mut S>, cx: &mut Context<'_>, flow: &mut ClientFlow, load: &Load, alarm: &Alarm,
    buffer: &mut [u8], armed: &mut i64,
) -> Poll<Result<(), Failure>> {
    loop {
        flow.fire(load);
        while flow.unsent() {
            match stream.as_mut().poll_write(cx, flow.outgoing()) {
                Poll::Ready(n) => flow.written(n?),
                Poll::Pending => break,
            }
        }
        if flow.held() == 0 {
            return Poll::Ready(Ok(()));
        }
        let mut read = ReadBuf::new(buffer);
        match stream.as_mut().poll_read(cx, &mut read) {
            Poll::Ready(came) => {
                came?;
                match read.filled().len() {
                    0 => return Poll::Ready(Err(std::io::Error::from(UnexpectedEof).into())),
                    n => flow.received(n)?,
                }
            }
            Poll::Pending => match flow.due() {
                Some(due) if due != *armed => {
                    *armed = due;
                    alarm.wake_at(due, cx.waker());
                    // The load may have ended before the alarm knew of this task.
                    if !load.ended() {
                        return Poll::Pending;
                    }
                }
                _ => return Poll::Pending,
            },
        }
    }
}

/// Serves a connection until its client ends it or sends what it may not.
pub async fn serve<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S, work: &'static Work, alarm: &Alarm) {
    let (mut flow, mut buffer) = (ServerFlow::new(work), vec![0; work.buffer]);
    // A failure is the client's to count.
    while let Ok(Some(until)) = poll_fn(|cx| serve_turn(Pin::new(stream), cx, &mut flow, &mut buffer)).await {
        alarm.until(until, None).await;
        flow.rested();
    }
}

/// Serves until the connection ends, or until an exchange sleeps whose reply is next.
fn serve_turn<S: AsyncRead + AsyncWrite>(
    mut stream: Pin<&mut S>, cx: &mut Context<'_>, flow: &mut ServerFlow, buffer: &mut [u8],
) -> Poll<Result<Option<i64>, Failure>> {
    loop {
        if let Some(until) = flow.rests() {
            return Poll::Ready(Ok(Some(until)));
        }
        while flow.unsent() {
            match stream.as_mut().poll_write(cx, flow.outgoing(buffer)) {
                Poll::Ready(n) => flow.written(n?),
                Poll::Pending => break,
            }
        }
        let most = flow.limit(buffer.len());
        if most == 0 {
            return Poll::Pending; // it writes first
        }
        let mut read = ReadBuf::new(&mut buffer[..most]);
        ready!(stream.as_mut().poll_read(cx, &mut read))?;
        match read.filled().len() {
            0 => return Poll::Ready(Ok(None)),
            n => flow.received(&buffer[..n])?,
        }
    }
}
