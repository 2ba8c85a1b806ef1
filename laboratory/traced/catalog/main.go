// Catalog of the traced shop: keeps the most recent items, and asks the store for the others.
//
// `catalog SETTINGS` reads the JSON that traced_service.py reads, with `cache` (how many items) and
// `burn` (ms of processor time for each request).
package main

import (
	"container/list"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

type settings struct {
	Name   string
	Port   int
	Folder string
	Others map[string]int
	Cache  int
	Burn   float64
}

// otlpFile writes spans as lines of OTLP JSON.
type otlpFile struct {
	mutex sync.Mutex
	file  *os.File
}

type object = map[string]any

func attributes(all []attribute.KeyValue) []object {
	found := []object{}
	for _, one := range all {
		found = append(found, object{"key": string(one.Key), "value": object{"stringValue": one.Value.Emit()}})
	}
	return found
}

func (out *otlpFile) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	written := []object{}
	for _, one := range spans {
		parent := ""
		if one.Parent().IsValid() {
			parent = one.Parent().SpanID().String()
		}
		written = append(written, object{
			"traceId": one.SpanContext().TraceID().String(), "spanId": one.SpanContext().SpanID().String(),
			"parentSpanId": parent, "name": one.Name(), "kind": int(one.SpanKind()),
			"startTimeUnixNano": strconv.FormatInt(one.StartTime().UnixNano(), 10),
			"endTimeUnixNano":   strconv.FormatInt(one.EndTime().UnixNano(), 10),
			"attributes":        attributes(one.Attributes()),
		})
	}
	line, err := json.Marshal(object{"resourceSpans": []object{{
		"resource":   object{"attributes": attributes(spans[0].Resource().Attributes())},
		"scopeSpans": []object{{"spans": written}},
	}}})
	if err != nil {
		return err
	}
	out.mutex.Lock()
	defer out.mutex.Unlock()
	_, err = out.file.Write(append(line, '\n'))
	return err
}

func (out *otlpFile) Shutdown(context.Context) error { return out.file.Close() }

// burn uses processor time, as the thread's clock counts it.
func burn(milliseconds float64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	now := func() int64 {
		var at syscall.Timespec
		syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 3, uintptr(unsafe.Pointer(&at)), 0)
		return at.Nano()
	}
	value := uint64(1)
	for until := now() + int64(milliseconds*1e6); now() < until; {
		for i := 0; i < 1000; i++ {
			value = value * 48271 % 2147483647
		}
	}
	sink = value
}

var sink uint64

// recent keeps the items that were used last.
type recent struct {
	mutex sync.Mutex
	most  int
	order *list.List
	items map[string]*list.Element
}

func (cache *recent) has(key string) bool {
	cache.mutex.Lock()
	defer cache.mutex.Unlock()
	one, found := cache.items[key]
	if found {
		cache.order.MoveToFront(one)
	}
	return found
}

func (cache *recent) put(key string) {
	cache.mutex.Lock()
	defer cache.mutex.Unlock()
	if _, found := cache.items[key]; found {
		return
	}
	cache.items[key] = cache.order.PushFront(key)
	if cache.order.Len() > cache.most {
		last := cache.order.Back()
		delete(cache.items, cache.order.Remove(last).(string))
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	check(err)
	var own settings
	check(json.Unmarshal(text, &own))
	file, err := os.Create(filepath.Join(own.Folder, own.Name+".traces.json"))
	check(err)
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(&otlpFile{file: file}),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", own.Name))),
	)
	tracer, carrier := provider.Tracer("shop"), propagation.TraceContext{}
	cache := &recent{most: own.Cache, order: list.New(), items: map[string]*list.Element{}}
	log, err := os.Create(filepath.Join(own.Folder, own.Name+".access.log"))
	check(err)
	var writing sync.Mutex

	ask := func(ctx context.Context, query string) {
		ctx, span := tracer.Start(ctx, "GET", trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(attribute.String("server.address", "store")))
		defer span.End()
		request, err := http.NewRequestWithContext(ctx, "GET",
			fmt.Sprintf("http://127.0.0.1:%d/item?%s", own.Others["store"], query), nil)
		check(err)
		carrier.Inject(ctx, propagation.HeaderCarrier(request.Header))
		answer, err := http.DefaultClient.Do(request)
		check(err)
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
	}
	http.HandleFunc("/list", func(out http.ResponseWriter, request *http.Request) {
		ctx := carrier.Extract(request.Context(), propagation.HeaderCarrier(request.Header))
		ctx, span := tracer.Start(ctx, "GET /list", trace.WithSpanKind(trace.SpanKindServer),
			trace.WithAttributes(attribute.String("http.request.method", "GET"), attribute.String("http.route", "/list")))
		burn(own.Burn)
		if key := request.URL.Query().Get("key"); !cache.has(key) {
			ask(ctx, request.URL.RawQuery)
			cache.put(key)
		}
		span.End()
		writing.Lock()
		fmt.Fprintf(log, "%.6f /list\n", float64(time.Now().UnixNano())/1e9)
		writing.Unlock()
		_, _ = io.WriteString(out, "ok")
	})
	server := &http.Server{Addr: fmt.Sprintf("127.0.0.1:%d", own.Port)}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		<-signals
		_ = server.Shutdown(context.Background())
	}()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		check(err)
	}
	time.Sleep(100 * time.Millisecond)
	_ = provider.Shutdown(context.Background())
	_ = log.Close()
}
